// How a response becomes a call's value. errorResponse.ts, which is loaded late, says why one has none.
import { codeOfGrpcNumber, type StatusCode } from "../errors/codes.js";
import { Failure } from "../errors/failure.js";
import { httpStatuses } from "../generated/contract.js";
import type { RerankResponse } from "../generated/types.js";
import type { CallResponse } from "../options/types.js";
import { header } from "../policy/retry.js";
import type { TransportResponse } from "../transport/exchange.js";
import { memberOf, parseJson } from "../values.js";

/** Stands for the value of a response that has none. */
export const noValue: unique symbol = Symbol("no value");

/** Reads a call's value from a whole response; a Failure for a value that cannot be used. */
export type ResponseReader<T> = (response: TransportResponse) => T | Failure | typeof noValue;

/** Begins the message about a response that lacks what the contract promises. */
export const notPromised = "The response is not the JSON object that the OpenAPI document describes";

/** The failure of a 2xx response that cannot be used. `failureIn` adds the response's status and headers. */
export function unusableResponse(message: string, more?: Partial<Failure>): Failure {
  return new Failure({ message, code: "INTERNAL", executed: "yes", ...more });
}

/** The failure of a JSON object that lacks a required field. */
export function incomplete(field: string): Failure {
  return unusableResponse(`${notPromised}: ${field} is missing or not valid.`, { events: ["incomplete"] });
}

/**
 * Makes a reader of 2xx responses that hold a JSON object. It is an error, not a value, if it has only fields of errors,
 * and one of them names a code or holds the error.
 */
export function readObject<T>(read: (value: object) => T | Failure): ResponseReader<T> {
  return (response) => {
    const value = response.ok ? objectIn(response) : undefined;
    if (!value) return noValue;
    for (const name of Object.keys(value)) if (!errorField.test(name)) return read(value);
    const [error, code] = [memberOf(value, "error"), memberOf(value, "code")];
    const isCode = codeWritten(code) || (codeOfGrpcNumber(code) && memberOf(value, "message"));
    const isError = isCode || (typeof error === "object" && error) || memberOf(value, "errorMessage");
    return isError ? noValue : read(value);
  };
}

/** The JSON object in a response's body; undefined if it has none. */
export function objectIn({ text }: TransportResponse): object | undefined {
  const value = parseJson(text);
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
}

// Names of fields that bodies of errors have.
const errorField =
  /^(code|details?|error|errorMessage|errorType|instance|[mM]essage|param|requestId|request_id|stackTrace|status|title|trace|type)$/;

/** The failure code with a name of the contract. */
export function codeNamed(value: unknown): StatusCode | undefined {
  return typeof value === "string" && value !== "OK" && Object.hasOwn(httpStatuses, value)
    ? (value as StatusCode)
    : undefined;
}

/** The failure code that a field `code` names, as the contract does or in lower case as Connect does. */
export function codeWritten(value: unknown): StatusCode | undefined {
  if (typeof value !== "string" || !/^[a-z_]{1,32}$/.test(value)) return codeNamed(value);
  return codeNamed(value === "canceled" ? "CANCELLED" : value.toUpperCase());
}

/** The response's `x-request-id`, else `request-id`. */
export function requestIdOf(headers: Readonly<Record<string, string>>): string | undefined {
  return header(headers, "x-request-id") ?? header(headers, "request-id");
}

/** The fields of a response that `withResponse()` adds to a call's value. */
export function seenOf({
  status: httpStatus,
  headers,
}: TransportResponse): Omit<CallResponse<unknown>, "data" | "attempts"> {
  const requestId = requestIdOf(headers);
  return { httpStatus, headers, ...(requestId !== undefined && { requestId }) };
}

/**
 * Returns a rerank response unchanged; a {@link Failure} if an entry lacks its index or score.
 * @param named The caller's name for the document with an index, to append to the message
 */
export function readRerank(response: object, named = (_index: number) => ""): RerankResponse | Failure {
  const data = memberOf(response, "data");
  if (!Array.isArray(data)) return incomplete("data");
  for (let position = 0; position < data.length; position++) {
    const entry: unknown = data[position];
    const index = memberOf(entry, "index");
    if (!Number.isInteger(index)) return incomplete(`data[${position}].index`);
    // JSON.parse reads 1e400 as Infinity, which is no score.
    if (!Number.isFinite(memberOf(entry, "relevance_score")))
      return incomplete(`data[${position}].relevance_score${named(index as number)}`);
  }
  return response as RerankResponse;
}
