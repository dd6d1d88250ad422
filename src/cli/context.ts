import type { Command } from "commander";
import type { ClientOptions, StatusError } from "../index.js";
import type { Terminal } from "./terminal.js";

/** What a command receives when it runs. `Options` are the options that only this command has. */
export interface Context<Options = unknown> {
  readonly options: Options & ServiceOptions;
  readonly args: readonly string[];
  readonly program: Command;
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

/** Options of every command that calls the service; times are in seconds. */
export type ServiceOptions = Readonly<
  Partial<
    Record<"baseUrl" | "apiKeyFile" | "account" | "envFile" | "proxy" | "noproxy", string> &
      Record<"debug" | "allowInsecureHttp" | "dryRun", boolean> &
      Record<"timeout" | "maxRetries", number>
  >
>;

/** An invalid command line or input: nothing was sent. */
export class UsageError extends Error {}

/** Ends a command that has already printed what failed, so that only the exit code is left to set. */
export class Reported extends Error {
  readonly exitCode: number;
  constructor(exitCode: number) {
    super("It was reported.");
    this.exitCode = exitCode;
  }
}

/** How much of a run is done, and of how many requests or files, if that is known; `text` also says how to go on. */
type DoneSoFar = Readonly<{ done: number; of: number | undefined; text: string }>;

/** Thrown when a run ends before all its requests or files are done. */
export class RunEnded extends Error {
  readonly exitCode: number;
  readonly progress: DoneSoFar;
  /** The error that ended the run; undefined if it was interrupted while nothing was in flight. */
  readonly error: StatusError | undefined;

  /** @param why What ended the run, such as `Interrupted`; undefined if the error says it */
  constructor(why: string | undefined, exitCode: number, progress: DoneSoFar, error?: StatusError) {
    super(why);
    this.exitCode = exitCode;
    this.progress = progress;
    this.error = error;
  }
}

/** Why a file cannot be read, without the file's name. */
export function reasonOf({ code, message }: NodeJS.ErrnoException): string {
  if (code === "EISDIR") return "it is a folder";
  // For example, the message is "ENOENT: no such file or directory, open 'name'".
  return code === undefined ? "it is not a readable file" : (message.split(", ")[0] ?? code);
}

/** The error to throw if a file cannot be read. @param name The argument or option that names the file */
export function cannotRead(name: string, error: unknown, more = ""): unknown {
  if (error instanceof UsageError || (error as Error).name === "AbortError") return error;
  return new UsageError(`${name} cannot be read: ${reasonOf(error as NodeJS.ErrnoException)}.${more}`);
}

/** An argument or option with the file that it names. */
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

/** Turns an error of listening on a port into one of the command line; any other error is returned unchanged. */
export function listenError(error: Error, port: number): Error {
  const { code = "" } = (error.cause ?? error) as NodeJS.ErrnoException;
  const advice = code === "EADDRINUSE" ? " Choose another with --port, or 0 for any free one." : "";
  // Only codes of the system begin with E, never those of the service.
  return code.startsWith("E")
    ? new UsageError(`Port ${port} of the host cannot be listened on: ${code}.${advice}`)
    : error;
}
