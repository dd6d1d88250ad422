import { expect, test } from "vitest";
import { type RerankAllAttempt, type RerankAllRequest, rerankAll } from "../../src/bulk/index.js";
import { useNoBackoff } from "../support/backoff.js";
import { connect } from "../support/clients.js";
import { TestClock } from "../support/clock.js";
import { networkError } from "../support/transientCodes.js";
import { turns } from "../support/turns.js";

useNoBackoff();

const requests = (count: number): RerankAllRequest[] =>
  Array.from({ length: count }, (_, index) => ({ id: `${index}`, query: `${index}`, documents: ["a"] }));

/** A machine that has so many sockets, and no more. */
function machineWith(
  sockets: number,
  code: string,
  answer = () => turns(2),
): { fetch: typeof fetch; refused: () => number } {
  let open = 0;
  let refused = 0;
  return {
    refused: () => refused,
    fetch: async () => {
      if (open >= sockets) {
        refused += 1;
        throw Object.assign(new TypeError("fetch failed"), { cause: networkError(code, "connect") });
      }
      open += 1;
      await answer();
      open -= 1;
      return new Response(JSON.stringify({ object: "list", data: [] }));
    },
  };
}

test.each(["EMFILE", "ENFILE"])(
  "%s lowers the number at once to what this machine can open, and nothing is lost",
  async (code) => {
    const { fetch, refused } = machineWith(20, code);
    const limits: number[] = [];
    const onAttempt = ({ concurrency }: RerankAllAttempt): void => void limits.push(concurrency);
    const found: unknown[] = [];
    const run = rerankAll(connect("http://127.0.0.1:9", { fetch }), requests(300), {
      concurrency: 64,
      onAttempt,
    });
    for await (const { id, error } of run) found.push(error ?? id);
    expect(found.sort()).toEqual(
      requests(300)
        .map(({ id }) => id)
        .sort(),
    );
    // 64 at once, 44 too many; four are left to the rest of the process.
    expect(limits.at(-1)).toBe(16);
    expect(refused()).toBe(44);
  },
);

test("an adaptive run grows to what this machine can open, and stays below it", async () => {
  const clock = new TestClock();
  const { fetch, refused } = machineWith(10, "EMFILE", () => clock.sleep(200));
  const limits: number[] = [];
  const onAttempt = ({ concurrency }: RerankAllAttempt): void => void limits.push(concurrency);
  const found: unknown[] = [];
  const run = async (): Promise<void> => {
    const results = rerankAll(connect("http://127.0.0.1:9", { fetch }), requests(1000), { onAttempt });
    for await (const { id, error } of results) found.push(error ?? id);
  };
  clock.install();
  try {
    await clock.until(run());
  } finally {
    clock.remove();
  }
  expect(new Set(found).size).toBe(1000);
  // 16 at once, 6 too many; four are left to the rest of the process.
  expect(Math.max(...limits)).toBe(16);
  expect(limits.at(-1)).toBe(6);
  expect(refused()).toBe(6);
});

test("a machine that can open nothing is no endless run: each request ends in its own time", async () => {
  const { fetch } = machineWith(0, "EMFILE");
  const found: unknown[] = [];
  const run = rerankAll(connect("http://127.0.0.1:9", { fetch }), requests(3), { timeoutMs: 200 });
  for await (const { id, error } of run) found.push([id, error?.code, error?.executed]);
  expect(found.sort()).toEqual([
    ["0", "UNAVAILABLE", "no"],
    ["1", "UNAVAILABLE", "no"],
    ["2", "UNAVAILABLE", "no"],
  ]);
});
