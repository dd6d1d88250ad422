// What people write around a bare request: an error for a status that is not 2xx, and up to two retries after a 503, each
// after a random wait. The waits are as long as this package's, because calls that wait are not in flight.
import { setTimeout as wait } from "node:timers/promises";

const backoffMs = [250, 500];

export function byHand(send) {
  return async (body) => {
    const json = JSON.stringify(body);
    let { status, value } = await send(json);
    for (let retries = 0; status === 503 && retries < backoffMs.length; retries++) {
      await wait(Math.random() * backoffMs[retries]);
      ({ status, value } = await send(json));
    }
    if (status < 200 || status > 299)
      throw Object.assign(new Error(value.message), { status, code: value.code });
    return value;
  };
}

export const path = "/inference/v1/rerank";
export const headers = { authorization: "Bearer bench-key", "content-type": "application/json" };
