import type { CallOptions, OperationId } from "../index.js";
import type { Terminal } from "./terminal.js";

/** What a command works with. */
export interface Context {
  /** The operation the command calls. */
  readonly operation: OperationId | undefined;
  readonly values: Readonly<Record<string, string | boolean | undefined>>;
  readonly positionals: readonly string[];
  readonly terminal: Terminal;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
}

/** The text an option was given. */
export function text({ values }: Context, option: string): string | undefined {
  const value = values[option];
  return typeof value === "string" ? value : undefined;
}

/** The number an option was given. @throws UsageError when it is none */
export function number(context: Context, option: string): number | undefined {
  const value = text(context, option);
  if (value === undefined) return undefined;
  // Number("") and Number(" ") are 0.
  if (value.trim() === "" || !Number.isFinite(Number(value))) {
    throw new UsageError(`--${option} must be a number.`);
  }
  return Number(value);
}

/** The options of the one call a command makes. */
export function callOptions({ signal }: Context): CallOptions {
  return { signal };
}

/** Why a file cannot be read, without its name: somebody may have given the key in its place. */
export function reasonOf({ code, message }: NodeJS.ErrnoException): string {
  // "ENOENT: no such file or directory, open 'name'"
  return code === undefined ? "it is not a readable file" : (message.split(", ")[0] ?? code);
}

/** A command line that cannot be understood. Its message never repeats an argument, which may be a key. */
export class UsageError extends Error {}
