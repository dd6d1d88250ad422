// What a run makes of services with other limits, over real sockets. Each is compared with a run of a fixed number that
// goes on beside it, on the same machine; test/policy/pace.test.ts says the same in simulated time.
import { expect, test } from "vitest";
import { type RerankAllOptions, rerankAll } from "../../src/bulk/index.js";
import { createClient } from "../../src/index.js";
import { canaryKey } from "../support/canary.js";
import { type RefusingService, startRefusing } from "../support/refusals/server.js";
import { services } from "../support/refusals/services.js";

interface Ran {
  /** When each row was done, in milliseconds since the run began. */
  readonly doneAt: readonly number[];
  readonly ms: number;
  readonly requests: RefusingService["requests"];
  readonly refused: number;
}

async function ranked(
  name: string,
  rows: number,
  responseMs: number,
  concurrency: RerankAllOptions["concurrency"],
): Promise<Ran> {
  const service = await startRefusing();
  const says = services.find((each) => each.name === name)?.open() ?? expect.fail(name);
  Object.assign(service, { says, delayMs: responseMs });
  const client = createClient({ baseUrl: service.url, apiKey: canaryKey, maxConnections: 256 });
  const requests = Array.from({ length: rows }, (_, id) => ({ id, query: `${id}`, documents: ["a"] }));
  const doneAt: number[] = [];
  const began = performance.now();
  for await (const { error } of rerankAll(client, requests, { concurrency })) {
    expect(error).toBeUndefined();
    doneAt.push(performance.now() - began);
  }
  const ms = performance.now() - began;
  await client.close();
  service.close();
  const refused = service.requests.filter(({ status }) => status === 429).length;
  return { doneAt, ms, requests: service.requests, refused };
}

const auto = { max: 256 };

test.concurrent("10 at once: 85 % of the speed of a fixed 10, with 2 % refusals at most", async () => {
  const [found, fixed] = await Promise.all([
    ranked("10 at once", 1000, 200, auto),
    ranked("10 at once", 1000, 200, 10),
  ]);
  expect(fixed.ms / found.ms).toBeGreaterThanOrEqual(0.85);
  expect(found.refused / found.requests.length).toBeLessThanOrEqual(0.02);
});

test.concurrent("200 at once: 85 % of the speed of a fixed 200, after ten rounds", async () => {
  const responseMs = 1_500;
  const [found, fixed] = await Promise.all([
    ranked("200 at once", 3_000, responseMs, auto),
    ranked("200 at once", 3_000, responseMs, 200),
  ]);
  const after = ({ doneAt }: Ran): number =>
    doneAt.filter((at) => at > 10 * responseMs && at <= fixed.ms).length;
  expect(after(found) / after(fixed)).toBeGreaterThanOrEqual(0.85);
});

test.concurrent("30 % random refusals: at most twice the time of a fixed 16", async () => {
  const [found, fixed] = await Promise.all([
    ranked("30 % random 429", 600, 200, auto),
    ranked("30 % random 429", 600, 200, 16),
  ]);
  expect(found.ms / fixed.ms).toBeLessThanOrEqual(2);
});
