import { keyProblem } from "../options/arguments.js";
import type { ApiKey } from "../options/clientOptions.js";
import { Failure } from "./failure.js";

/** The key that a function gives for the next attempt; a Failure when it gives none that can be sent. */
export async function currentKey(apiKey: Exclude<ApiKey, string>): Promise<string | Failure> {
  let key: unknown;
  try {
    key = await apiKey();
  } catch (cause) {
    return refused("UNAUTHENTICATED", "The apiKey function failed, so nothing was sent.", cause);
  }
  const problem = keyProblem(key);
  if (problem === undefined) return key as string;
  return refused("INVALID_ARGUMENT", `What the apiKey function returned ${problem}`);
}

function refused(code: "UNAUTHENTICATED" | "INVALID_ARGUMENT", message: string, cause?: unknown): Failure {
  return new Failure({ code, message, cause, executed: "no", requested: false });
}
