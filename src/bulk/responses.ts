import { readRerank, unusableResponse } from "../call/response.js";
import { Failure } from "../errors/failure.js";
import type { StatusError } from "../errors/statusError.js";
import type { RerankRequest, RerankResponse } from "../generated/types.js";
import type { CallPromise, CallResponse } from "../options/types.js";
import { joinable, rankingError } from "../ranking/check.js";
import { valueOr } from "../values.js";

/**
 * The ranking in a response, best first; a {@link Failure} when it cannot be joined with its request.
 * @param isRead Whether the response was already checked to be a ranking, as this package's clients do.
 */
export function rankingOf(
  body: RerankRequest,
  response: RerankResponse,
  isRead: boolean,
): RerankResponse | Failure {
  // Properties of a custom client's response, or of the caller's request, may be getters that throw.
  const read = valueOr(() => {
    const whole = isRead ? response : readRerank(Object(response));
    return whole instanceof Failure ? whole : joinable(body, whole);
  }, undefined);
  return read ?? unusableResponse("The response cannot be read.");
}

const nothingKnown: Partial<CallResponse<unknown>> = {};

/**
 * The error of a call whose response is not a usable ranking.
 * @param call The call, if a client of this package made it: it knows the HTTP status, headers, request id and
 * attempts.
 */
export async function errorOfResponse(
  { message }: Failure,
  call: CallPromise<unknown> | undefined,
): Promise<StatusError> {
  const { httpStatus, headers, requestId, attempts } = (await call?.withResponse()) ?? nothingKnown;
  return rankingError(message, { httpStatus, headers, requestId, attempts });
}
