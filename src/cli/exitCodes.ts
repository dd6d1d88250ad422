import type { StatusCode, StatusError } from "../index.js";

/** The exit codes that do not depend on a code of the service. */
export const exitCodes = { success: 0, fault: 1, usage: 2, limit: 11, interrupted: 130 } as const;

/** The exit code of a command that a signal ended, as in shells. */
export const exitCodeOfSignal = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

export const exitCodeOf: Readonly<Record<StatusCode, number>> = {
  ...{ UNAUTHENTICATED: 3, PERMISSION_DENIED: 3, NOT_FOUND: 4, INVALID_ARGUMENT: 5, OUT_OF_RANGE: 5 },
  ...{ FAILED_PRECONDITION: 6, ABORTED: 6, ALREADY_EXISTS: 6, RESOURCE_EXHAUSTED: 7, UNAVAILABLE: 8 },
  ...{ DEADLINE_EXCEEDED: 9, INTERNAL: 10, UNKNOWN: 10, UNIMPLEMENTED: 10, DATA_LOSS: 10 },
  CANCELLED: exitCodes.interrupted,
};

/** The exit code of a failed call: `usage` or `fault` if the client rejected it before, or stopped it after it was sent. */
export function exitCodeOfError({ code, codeSource, attempts }: StatusError): number {
  // Codes that the client uses for invalid arguments and files. From the service, each has its own exit code.
  const isOfArguments = /^(INVALID_ARGUMENT|OUT_OF_RANGE|FAILED_PRECONDITION)$/.test(code);
  if (codeSource !== "client" || !isOfArguments) return exitCodeOf[code];
  return attempts.length === 0 ? exitCodes.usage : exitCodes.fault;
}

const meanings: Readonly<Record<number, string>> = {
  0: "success",
  1: "a local failure, such as a full disk or a file that changed; conformance: a test case failed",
  2: "nothing was sent: an argument or file is invalid or missing, or an output file is not from tunerank",
  5: ": rejected by the service, or invalid lines or files were skipped",
  6: "; upload --checkpoint: a file may be stored, or has changed",
  11: "a bulk run has reached --max-requests or --max-tokens: the same command continues it",
  130: ": ended by SIGHUP, SIGINT (Ctrl-C) or SIGTERM",
};

/** Every exit code with its meaning. @param named Formats the name of a service code */
export function exitCodeRows(named: (code: string) => string): readonly (readonly [string, string])[] {
  const exits = new Set([...Object.keys(meanings).map(Number), ...Object.values(exitCodeOf)]);
  return [...exits]
    .sort((a, b) => a - b)
    .map((exit) => {
      const names = Object.keys(exitCodeOf).filter((name) => exitCodeOf[name as StatusCode] === exit);
      const shown = exit === exitCodes.interrupted ? Object.values(exitCodeOfSignal).join(", ") : `${exit}`;
      return [shown, names.map(named).join(", ") + (meanings[exit] ?? "")] as const;
    });
}
