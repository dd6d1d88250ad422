// The same rows with what people use otherwise, 16 at once.
import { createRequire } from "node:module";
import { body, type Given, numbers, Output, runSetting, type Written } from "./program.js";

const peer = createRequire(new URL("../package.json", import.meta.url));

async function inLimitedPeer({ url, rows }: Given): Promise<Written> {
  const { default: OpenAI } = peer("openai");
  const { default: limit } = await import(peer.resolve("p-limit"));
  const client = new OpenAI({ apiKey: "matrix-key", baseURL: url });
  const lane = limit(16);
  const output = new Output();
  const rank = (row: number): Promise<unknown> => client.post("/inference/v1/rerank", { body: body(row) });
  await Promise.all(
    numbers(rows).map(async (row) => {
      const isRanked = await lane(() => rank(row)).then(
        () => true,
        () => false,
      );
      output.add(row, isRanked);
    }),
  );
  return output.written;
}

async function inPlainLoop({ url, rows }: Given): Promise<Written> {
  const { request } = peer("undici");
  const left = numbers(rows);
  const output = new Output();
  const headers = { authorization: "Bearer matrix-key", "content-type": "application/json" };
  const lane = async (): Promise<void> => {
    for (let row = left.shift(); row !== undefined; row = left.shift()) {
      const sent = { method: "POST", headers, body: JSON.stringify(body(row)) };
      const response = await request(`${url}/inference/v1/rerank`, sent);
      await response.body.text();
      output.add(row, response.statusCode === 200);
    }
  };
  await Promise.all(Array.from({ length: 16 }, lane));
  return output.written;
}

await runSetting({ "p-limit with openai": inLimitedPeer, "a plain loop over undici": inPlainLoop });
