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

/** The exit code of each code of the service. */
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

/** The exit code of a failed call: what was refused before anything was sent is a fault of the command line. */
export function exitCodeOfError({ code, codeSource, attempts }: StatusError): number {
  const refused = codeSource === "client" && attempts.length === 0 && code !== "CANCELLED";
  return refused && exitCodeOf[code] === exitCodeOf.INVALID_ARGUMENT ? exitCodes.usage : exitCodeOf[code];
}
