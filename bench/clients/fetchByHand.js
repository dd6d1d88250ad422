// Node's own fetch, with errors and retries written by hand.
import { byHand, headers, path } from "./byHand.js";

export function open(baseUrl) {
  return {
    rerank: byHand(async (body) => {
      const response = await fetch(baseUrl + path, { method: "POST", headers, body });
      return { status: response.status, value: await response.json() };
    }),
  };
}
