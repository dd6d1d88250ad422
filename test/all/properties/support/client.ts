import { type Client, type ClientOptions, createClient } from "../../../../src/index.js";
import { canaryKey } from "../../../support/canary.js";

/** A client with nothing around it, for calls by the thousand. Its errors are searched for the key all the same. */
export function plainClient(baseUrl: string, options: ClientOptions = {}): Client {
  return createClient({ baseUrl, apiKey: canaryKey, accountId: "acme", maxRetries: 0, ...options });
}
