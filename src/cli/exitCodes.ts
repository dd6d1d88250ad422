import type { StatusCode, StatusError } from "../index.js";

/** What each exit code means: the class of a failure. */
export const exitCodes: {
  readonly success: number;
  readonly fault: number;
  readonly usage: number;
  readonly interrupted: number;
} = { success: 0, fault: 1, usage: 2, interrupted: 130 };

/** The exit code of a call that a signal ended: 128 and the signal's number, as shells have it. */
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

// What the client itself says of arguments and files; said by the service, each has its own exit code.
const ofArguments = new Set<StatusCode>(["INVALID_ARGUMENT", "OUT_OF_RANGE", "FAILED_PRECONDITION"]);

/**
 * The exit code of a failed call. What this client refuses before anything is sent is `usage`; what stops it later, such
 * as a file that changes while it is sent, is a fault of this machine.
 */
export function exitCodeOfError({ code, codeSource, attempts }: StatusError): number {
  if (codeSource !== "client" || !ofArguments.has(code)) return exitCodeOf[code];
  return attempts.length === 0 ? exitCodes.usage : exitCodes.fault;
}

/** Every exit code with what it means. @param named How the names of the service's codes are written */
export function exitCodeRows(
  named: (code: string) => string,
): readonly (readonly [exit: number, meaning: string])[] {
  const failures = [...new Set(Object.values(exitCodeOf))].map((exit) => {
    const names = Object.entries(exitCodeOf).filter(([, each]) => each === exit);
    const isInvalid = exit === exitCodeOf.INVALID_ARGUMENT;
    const more = isInvalid ? ": refused by the service, or a bulk run ended with invalid lines" : "";
    return [exit, names.map(([name]) => named(name)).join(", ") + more] as const;
  });
  const fault =
    "a fault of this machine during the run, such as a full disk; for conformance, a row that differs";
  const usage = "refused before anything was sent: a wrong argument, a missing file, another program's file";
  return [
    [exitCodes.success, "success"],
    [exitCodes.fault, fault],
    [exitCodes.usage, usage],
    ...failures,
    [exitCodeOfSignal.SIGHUP, "ended by SIGHUP"],
    [exitCodeOfSignal.SIGTERM, "ended by SIGTERM"],
  ];
}
