import type { StatusCode, StatusError } from "../index.js";

/** The exit codes that do not depend on a code of the service. */
export const exitCodes: {
  readonly success: number;
  readonly fault: number;
  readonly usage: number;
  readonly limit: number;
  readonly interrupted: number;
} = { success: 0, fault: 1, usage: 2, limit: 11, interrupted: 130 };

/** The exit code of a call that a signal ended: 128 plus the signal's number, as in shells. */
export const exitCodeOfSignal: Readonly<Record<"SIGHUP" | "SIGINT" | "SIGTERM", number>> = {
  SIGHUP: 129,
  SIGINT: exitCodes.interrupted,
  SIGTERM: 143,
};

export const exitCodeOf: Readonly<Record<StatusCode, number>> = {
  UNAUTHENTICATED: 3,
  PERMISSION_DENIED: 3,
  NOT_FOUND: 4,
  INVALID_ARGUMENT: 5,
  OUT_OF_RANGE: 5,
  FAILED_PRECONDITION: 6,
  ABORTED: 6,
  ALREADY_EXISTS: 6,
  RESOURCE_EXHAUSTED: 7,
  UNAVAILABLE: 8,
  DEADLINE_EXCEEDED: 9,
  INTERNAL: 10,
  UNKNOWN: 10,
  UNIMPLEMENTED: 10,
  DATA_LOSS: 10,
  CANCELLED: exitCodes.interrupted,
};

// Codes that the client uses for invalid arguments and files. If they come from the service, each has its own exit
// code.
const ofArguments = new Set<StatusCode>(["INVALID_ARGUMENT", "OUT_OF_RANGE", "FAILED_PRECONDITION"]);

/**
 * The exit code of a failed call. It is `usage` if the client rejected the call before anything was sent. It is `fault`
 * if the client stopped the call later, such as for a file that changed while it was sent.
 */
export function exitCodeOfError({ code, codeSource, attempts }: StatusError): number {
  if (codeSource !== "client" || !ofArguments.has(code)) return exitCodeOf[code];
  return attempts.length === 0 ? exitCodes.usage : exitCodes.fault;
}

const skipped = ": rejected by the service, or invalid lines or files were skipped";
const heldBack = "; upload --checkpoint: a file may be stored already";

/** Every exit code with its meaning. @param named Formats the name of a service code */
export function exitCodeRows(
  named: (code: string) => string,
): readonly (readonly [exit: number, meaning: string])[] {
  const failures = [...new Set(Object.values(exitCodeOf))].map((exit) => {
    const names = Object.entries(exitCodeOf).filter(([, each]) => each === exit);
    const isInvalid = exit === exitCodeOf.INVALID_ARGUMENT;
    const isHeld = exit === exitCodeOf.FAILED_PRECONDITION;
    const more = isInvalid ? skipped : isHeld ? heldBack : "";
    return [exit, names.map(([name]) => named(name)).join(", ") + more] as const;
  });
  const fault =
    "a local failure, such as a full disk or a file that changed; conformance: a test case failed";
  const usage =
    "nothing was sent: an argument or file is invalid or missing, or an output file is not from tunerank";
  return [
    [exitCodes.success, "success"],
    [exitCodes.fault, fault],
    [exitCodes.usage, usage],
    ...failures.slice(0, -1),
    [exitCodes.limit, "a bulk run has reached --max-requests or --max-tokens: the same command continues it"],
    ...failures.slice(-1),
    [exitCodeOfSignal.SIGHUP, "ended by SIGHUP: its terminal was closed"],
    [exitCodeOfSignal.SIGTERM, "ended by SIGTERM"],
  ];
}
