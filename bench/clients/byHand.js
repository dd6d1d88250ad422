// What people write around a bare request: an error for a status that is not 2xx, and retries after a 503. As many as
// tunerank.js allows: with them, no call of a measurement fails.
export function byHand(send) {
  return async (body) => {
    const json = JSON.stringify(body);
    let { status, value } = await send(json);
    for (let retries = 0; status === 503 && retries < 10; retries++) ({ status, value } = await send(json));
    if (status < 200 || status > 299)
      throw Object.assign(new Error(value.message), { status, code: value.code });
    return value;
  };
}

export const path = "/inference/v1/rerank";
export const headers = { authorization: "Bearer bench-key", "content-type": "application/json" };
