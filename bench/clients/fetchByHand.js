// Node's own fetch, with errors and retries written by hand.
import { byHand, headers, path } from "./byHand.js";

export function open(baseUrl) {
  return {
    rerank: byHand(async (body) => {
      const answer = await fetch(baseUrl + path, { method: "POST", headers, body });
      return { status: answer.status, value: await answer.json() };
    }),
  };
}
