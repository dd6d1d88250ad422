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
  /** How long a run may give no sign of life, in milliseconds, before another run may take over its files. */
  readonly leaseMs: number;
  /** With `--dry-run`: nothing is sent, and no file is written. */
  readonly dryRun?: DryRun;
}

/** What a command does with `--dry-run`: its client sends nothing. */
export interface DryRun {
  readonly fetch: NonNullable<ClientOptions["fetch"]>;
  /** Adds facts that only the command knows to what is printed. @param facts For programs @param lines For people */
  tell(facts: object, lines: readonly string[]): void;
}

/** Options of every command that calls the service. */
export interface ServiceOptions {
  readonly baseUrl?: string;
  readonly apiKeyFile?: string;
  readonly account?: string;
  readonly envFile?: string;
  readonly debug?: boolean;
  /** The deadline of a call, in seconds. */
  readonly timeout?: number;
  readonly maxRetries?: number;
  readonly allowInsecureHttp?: boolean;
  readonly proxy?: string;
  readonly noproxy?: string;
  readonly dryRun?: boolean;
}

/** Why a file cannot be read, without the file's name. */
export function reasonOf({ code, message }: NodeJS.ErrnoException): string {
  // For example, the message is "ENOENT: no such file or directory, open 'name'".
  return code === undefined ? "it is not a readable file" : (message.split(", ")[0] ?? code);
}

/**
 * The error to throw if a file cannot be read.
 * @param name The argument or option that names the file
 * @param more Text that is added to the message
 */
export function cannotRead(name: string, error: unknown, more = ""): unknown {
  if (error instanceof UsageError || (error as Error).name === "AbortError") return error;
  const failure = error as NodeJS.ErrnoException;
  const reason = failure.code === "EISDIR" ? "it is a folder" : reasonOf(failure);
  return new UsageError(`${name} cannot be read: ${reason}.${more}`);
}

/** Whether a file's name has the API key in it, and so is not shown: it may be the key, given in a file's place. */
export function hasKey(file: string): boolean {
  const key = process.env.TUNERANK_API_KEY;
  return !!key && file.includes(key);
}

/** An argument or option with the file that it names. */
export function namingFile(name: string, file: string): string {
  return file === "-" || hasKey(file) ? name : `${name} "${file}"`;
}

/**
 * Returns the result of `use`, or undefined if it throws.
 * @param code If given, only an error with this system code gives undefined
 */
export function orUndefined<T>(use: () => T, code?: string): T | undefined {
  try {
    return use();
  } catch (error) {
    if (code === undefined || (error as NodeJS.ErrnoException).code === code) return undefined;
    throw error;
  }
}

/** @throws UsageError if a port is invalid */
export function checkPort(port: number): void {
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new UsageError("--port must be 0 to 65535.");
}

/** Turns an error of listening on a port into an error of the command line; any other error is returned unchanged. */
export function listenError(error: Error, port: number): Error {
  const { code = "" } = (error.cause ?? error) as NodeJS.ErrnoException;
  if (code === "EADDRINUSE")
    return new UsageError(
      `Port ${port} is taken (EADDRINUSE): choose another with --port, or 0 for any free one.`,
    );
  // Only codes of the operating system begin with E, never those of the service.
  if (!code.startsWith("E")) return error;
  return new UsageError(`The host and port cannot be listened on: ${code}.`);
}

/** An invalid command line. The message never quotes an argument, which may be an API key. */
export class UsageError extends Error {}

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

/** Thrown when a run ends before all its requests or files are done. */
export class RunEnded extends Error {
  readonly exitCode: number;
  /** The error that ended the run; undefined if it was interrupted while nothing was in flight. */
  readonly error: StatusError | undefined;
  readonly progress: DoneSoFar;

  /** @param why What ended the run, such as `Interrupted`; undefined if the error says it */
  constructor(why: string | undefined, exitCode: number, progress: DoneSoFar, error?: StatusError) {
    super(why);
    this.exitCode = exitCode;
    this.error = error;
    this.progress = progress;
  }
}

/** How much of a run is done, and how to go on. */
export interface DoneSoFar {
  readonly done: number;
  /** How many requests or files there are; undefined if that is not known. */
  readonly of: number | undefined;
  /** The progress as text, such as `3 of 5 done; the same command continues.` */
  readonly text: string;
}

/** Ends a command that has already printed what failed, so that only the exit code is left to set. */
export class Reported extends Error {
  readonly exitCode: number;
  constructor(exitCode: number) {
    super("It was reported.");
    this.exitCode = exitCode;
  }
}
