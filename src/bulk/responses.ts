import { readRerank, unusableResponse } from "../call/response.js";
import { Failure } from "../errors/failure.js";
import type { StatusError } from "../errors/statusError.js";
import type { RerankRequest, RerankResponse } from "../generated/types.js";
import type { CallPromise, CallResponse } from "../options/types.js";
import { joinable, rankingError } from "../ranking/check.js";
import { valueOr } from "../values.js";

/**
 * The ranking of a response, best first; {@link Failure} when it cannot be joined with its request.
 * @param isRead Whether it is known to be a ranking at all, as that of this package's clients is.
 */
export function rankingOf(
  body: RerankRequest,
  response: RerankResponse,
  isRead: boolean,
): RerankResponse | Failure {
  // Of a client or a source of the caller's own, a part that is read may throw.
  const read = valueOr(() => {
    const whole = isRead ? response : readRerank(Object(response));
    return whole instanceof Failure ? whole : joinable(body, whole);
  }, undefined);
  return read ?? unusableResponse("The response cannot be read.");
}

const nothingKnown: Partial<CallResponse<unknown>> = {};

/** The error of a call that was responded to with what is no result. @param call One of this package's, which says what it sent */
export async function errorOfResponse(
  { message }: Failure,
  call: CallPromise<unknown> | undefined,
): Promise<StatusError> {
  const { httpStatus, headers, requestId, attempts } = (await call?.withResponse()) ?? nothingKnown;
  return rankingError(message, { httpStatus, headers, requestId, attempts });
}
