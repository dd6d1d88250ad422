import { httpStatuses } from "../generated/contract.js";
import type { StatusCode } from "./codes.js";

// The service's codes in gRPC's order: it has this one last.
const last = "UNAUTHENTICATED";
const codes = [...Object.keys(httpStatuses).filter((code) => code !== last), last];

/** The failure code that has a number in gRPC, where 0 is OK. */
export function codeOfGrpcNumber(value: unknown): StatusCode | undefined {
  return codes.find((_, number) => number > 0 && number === value) as StatusCode | undefined;
}
