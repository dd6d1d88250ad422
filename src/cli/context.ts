import type { Command } from "commander";
import type { Terminal } from "./terminal.js";

/** What a command works with. `Options` are those that only this command has. */
export interface Context<Options = unknown> {
  readonly options: Options & ServiceOptions;
  readonly args: readonly string[];
  /** The program that the command belongs to. */
  readonly program: Command;
  readonly terminal: Terminal;
  /** Aborted by Ctrl-C, and when the process is asked to end. */
  readonly signal: AbortSignal;
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

/** A command line that cannot be understood. Its message never repeats an argument, which may be a key. */
export class UsageError extends Error {}

/** The end of a command that has said itself what failed: only the exit code is left. */
export class Reported extends Error {
  readonly exitCode: number;
  constructor(exitCode: number) {
    super("It was reported.");
    this.exitCode = exitCode;
  }
}
