import type { Command } from "commander";
import type { Terminal } from "./terminal.js";

/** What a command works with. `Options` are those that only this command has. */
export interface Context<Options = unknown> {
  readonly options: Options & ServiceOptions;
  readonly args: readonly string[];
  readonly program: Command;
  readonly terminal: Terminal;
  /** Aborted by Ctrl-C, and when the process is asked to end. */
  readonly signal: AbortSignal;
  /** After how long without a sign of life of its run a file may be taken over. */
  readonly leaseMs: number;
}

/** Options of every command that calls the service. */
export interface ServiceOptions {
  readonly baseUrl?: string;
  readonly apiKeyFile?: string;
  readonly account?: string;
  /** In seconds. */
  readonly timeout?: number;
  readonly maxRetries?: number;
  readonly allowInsecureHttp?: boolean;
  readonly proxy?: string;
  readonly noproxy?: string;
}

/** Why a file cannot be read, without its name: somebody may have given the key in its place. */
export function reasonOf({ code, message }: NodeJS.ErrnoException): string {
  // "ENOENT: no such file or directory, open 'name'"
  return code === undefined ? "it is not a readable file" : (message.split(", ")[0] ?? code);
}

/** What is thrown where a file cannot be read. @param name What the command line calls it @param more What follows */
export function cannotRead(name: string, error: unknown, more = ""): unknown {
  if (error instanceof UsageError || (error as Error).name === "AbortError") return error;
  const failure = error as NodeJS.ErrnoException;
  const reason = failure.code === "EISDIR" ? "it is a folder" : reasonOf(failure);
  return new UsageError(`${name} cannot be read: ${reason}.${more}`);
}

/** What `use` gives; undefined where it fails. @param code Then only a failure with this code of the system */
export function orUndefined<T>(use: () => T, code?: string): T | undefined {
  try {
    return use();
  } catch (error) {
    if (code === undefined || (error as NodeJS.ErrnoException).code === code) return undefined;
    throw error;
  }
}

/** @throws UsageError */
export function checkPort(port: number): void {
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new UsageError("--port must be 0 to 65535.");
}

/** Why a port cannot be listened on, as a fault of the command line; the error itself where it is none. */
export function listenError(error: Error, port: number): Error {
  const { code = "" } = (error.cause ?? error) as NodeJS.ErrnoException;
  if (code === "EADDRINUSE")
    return new UsageError(
      `Port ${port} is taken (EADDRINUSE): choose another with --port, or 0 for any free one.`,
    );
  // No code of the service begins so.
  if (!code.startsWith("E")) return error;
  return new UsageError(`The host and port cannot be listened on: ${code}.`);
}

/** A command line that cannot be understood. Its message never repeats an argument, which may be a key. */
export class UsageError extends Error {}

/** @throws UsageError for an option that would be ignored in silence @param why What is said behind its name */
export function refuseOptions<Name extends string>(
  options: Readonly<Partial<Record<Name, unknown>>>,
  names: readonly Name[],
  why: string,
): void {
  const name = names.find((each) => options[each] !== undefined);
  const option = name?.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  if (option !== undefined) throw new UsageError(`--${option} ${why}`);
}

/** The end of a command that has said itself what failed: only the exit code is left. */
export class Reported extends Error {
  readonly exitCode: number;
  constructor(exitCode: number) {
    super("It was reported.");
    this.exitCode = exitCode;
  }
}
