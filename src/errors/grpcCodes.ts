import type { StatusCode } from "./codes.js";

// From 1 on: 0 is OK. The order of the service's table differs.
const codes: readonly StatusCode[] = [
  "CANCELLED",
  "UNKNOWN",
  "INVALID_ARGUMENT",
  "DEADLINE_EXCEEDED",
  "NOT_FOUND",
  "ALREADY_EXISTS",
  "PERMISSION_DENIED",
  "RESOURCE_EXHAUSTED",
  "FAILED_PRECONDITION",
  "ABORTED",
  "OUT_OF_RANGE",
  "UNIMPLEMENTED",
  "INTERNAL",
  "UNAVAILABLE",
  "DATA_LOSS",
  "UNAUTHENTICATED",
];

/** The failure code that has a number in gRPC. */
export function codeOfGrpcNumber(value: unknown): StatusCode | undefined {
  return codes.find((_, index) => index + 1 === value);
}
