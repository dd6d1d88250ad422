import type { ClientOptions, StatusError } from "../index.js";
import type { Terminal } from "./terminal.js";

export interface Context {
  readonly options: CommandOptions;
  readonly args: readonly string[];
  readonly terminal: Terminal;
  /** Aborts on Ctrl-C (SIGINT), SIGTERM and SIGHUP. */
  readonly signal: AbortSignal;
  /**
   * From now on, `signal` aborts only 8 s after the first Ctrl-C, SIGTERM or SIGHUP, so that requests in flight, which
   * are paid for, can end. The returned signal aborts at once: nothing more is to be sent.
   */
  grace(this: void): AbortSignal;
  /** With `--dry-run`, no file is written; `fetch` sends nothing, and `tell` adds facts to what is printed. */
  readonly dryRun?: {
    readonly fetch: NonNullable<ClientOptions["fetch"]>;
    tell(forPrograms: object, lines: readonly string[]): void;
  };
}

/** The options of all commands. Times are in milliseconds, rates per minute. */
export type CommandOptions = Readonly<
  Partial<
    Record<"baseUrl" | "apiKeyFile" | "account" | "envFile" | "proxy" | "noproxy", string> &
      Record<"field" | "model" | "task" | "output" | "shard" | "name" | "checkpoint", string> &
      Record<"idField" | "queryField" | "documentsField" | "accept" | "contentType", string> &
      Record<"body" | "bodyFile" | "host" | "badge" | "junit" | "tools" | "root" | "install", string> &
      Record<"timeout" | "maxRetries" | "topN" | "batchSize" | "rate" | "tokensPerMinute", number> &
      Record<"maxRequests" | "maxTokens" | "totalTimeout" | "maxPause", number> &
      Record<"maxBytes" | "port" | "delay", number> &
      Record<"debug" | "allowInsecureHttp" | "dryRun" | "allowEmpty" | "strict" | "update", boolean> &
      Record<"retryFinal" | "noCheck" | "verify" | "resendUnknown" | "yes" | "list", boolean> &
      Record<"idempotent" | "large" | "help", boolean> &
      Record<"param" | "allowOrigin" | "fail" | "only" | "except", readonly string[]> & {
        concurrency: number | "auto";
        /** A text of `rerank`, and a list of `request`. */
        query: string | readonly string[];
      }
  >
>;

/** An invalid command line or input: nothing was sent. */
export class UsageError extends Error {}

/** How much of a run is done, and of how many requests or files, if that is known; `text` also says how to go on. */
type Done = Readonly<{ done: number; of: number | undefined; text: string }>;

/**
 * Ends a command with an exit code: after it has printed what failed, or, with `progress`, before all is done. Why is said
 * by the message, by the `cause` (an error of a call), or both.
 */
export class RunEnded extends Error {
  readonly exitCode: number;
  readonly progress: Done | undefined;

  constructor(exitCode: number, progress?: Done, why = "", cause?: StatusError) {
    super(why, { cause });
    this.exitCode = exitCode;
    this.progress = progress;
  }
}

/** Why a file cannot be read, without the file's name. */
export function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  // For example, the message is "ENOENT: no such file or directory, open 'name'".
  return code === "EISDIR" ? "it is a folder" : (message.split(", ")[0] ?? "");
}

/** The error to throw if reading a file ended with one. @param name The argument or option that names the file */
export function cannotRead(name: string, error: unknown, more = ""): unknown {
  const { code, name: kind } = error as NodeJS.ErrnoException;
  if (typeof code !== "string" || kind === "AbortError") return error;
  return new UsageError(`${name} cannot be read: ${reasonOf(error)}.${more}`);
}

export function namingFile(name: string, file: string): string {
  return file === "-" ? name : `${name} "${file}"`;
}

/** Returns the result of `use`, or undefined if it throws. @param code Only an error with this system code */
export function orUndefined<T>(use: () => T, code?: string): T | undefined {
  try {
    return use();
  } catch (error) {
    if (code === undefined || (error as NodeJS.ErrnoException).code === code) return undefined;
    throw error;
  }
}

/** Rejects options that would be ignored silently. @throws UsageError @param why The message after the option's name */
export function refuseOptions<Name extends string>(
  options: Readonly<Partial<Record<Name, unknown>>>,
  names: readonly Name[],
  why: string,
): void {
  const name = names.find((each) => options[each] !== undefined);
  const option = name?.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  if (option !== undefined) throw new UsageError(`--${option} ${why}`);
}

/** Ends a command that cannot listen on its port. @throws UsageError with Node's own words */
export function cannotListen(error: Error): never {
  const { code = "", message } = (error.cause ?? error) as NodeJS.ErrnoException;
  // Only codes of the system begin with E, never those of the service.
  throw code.startsWith("E")
    ? new UsageError(`${message.replace(/\.$/, "")}. See --port and --host; port 0 is any free one.`)
    : error;
}
