import type { OperationId } from "../generated/contract.js";
import type { CallPromise, CallResponse } from "./options.js";
import { isStatusError } from "./status.js";

/** Starts a call at once; everything `run` throws, wrong arguments included, rejects the promise. */
export function startCall<T>(operation: OperationId, run: () => Promise<CallResponse<T>>): CallPromise<T> {
  const response = named(operation, run);
  const value = response.then(({ data }) => data);
  return Object.assign(value, {
    withResponse() {
      // Whoever asks for the response hears of its failure there, not a second time as unhandled.
      value.catch(() => {});
      return response;
    },
  });
}

async function named<T>(
  operation: OperationId,
  run: () => Promise<CallResponse<T>>,
): Promise<CallResponse<T>> {
  try {
    return await run();
  } catch (error) {
    // Checks of arguments do not know which operation they serve.
    if (isStatusError(error) && error.operation === undefined) Object.assign(error, { operation });
    throw error;
  }
}
