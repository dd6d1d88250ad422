import type { CallPromise } from "../options/callOptions.js";
import type { EncodedRequest } from "./anyRequest.js";
import type { RequestOptions } from "./request.js";

/**
 * A call of any operation whose parts are encoded already; its answer's body is handed back as bytes.
 * @param onAnswer Hears of each answer that came, whatever its status.
 */
export type EncodedCall = (
  request: EncodedRequest,
  options: RequestOptions,
  onAnswer: (headers: Readonly<Record<string, string>>) => void,
) => CallPromise<Uint8Array>;

/** The name of {@link EncodedCall} on a client, also for another copy of this package. */
export const encodedCall: symbol = Symbol.for("tunerank.encodedCall");
