import { beforeEach, describe, expect, test } from "vitest";
import { type RerankAllRequest, type RerankAllResults, rerankAll } from "../../src/bulk/index.js";
import { good, requestsOf } from "../support/bulkRuns.js";
import { connect } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { turns } from "../support/turns.js";
import { expectNothingUnhandled } from "../support/unhandled.js";

const server = useRecordingServer();
beforeEach(() => server.reply(good));
expectNothingUnhandled();

const stop = new Error("No more.");
const over = { done: true, value: undefined };
type Kind = "sync" | "async";

/** A source that says when it is closed. */
function sourceOf(kind: Kind, count = 100): { source: Iterable<RerankAllRequest>; closed: () => boolean } {
  let closed = false;
  function* sync(): Generator<RerankAllRequest> {
    try {
      yield* requestsOf(count);
    } finally {
      closed = true;
    }
  }
  async function* async(): AsyncGenerator<RerankAllRequest> {
    yield* sync();
  }
  return { source: kind === "sync" ? sync() : (async() as never), closed: () => closed };
}

type Step = "next" | "return" | "throw" | "dispose";
const steps: Readonly<Record<Step, (run: RerankAllResults) => Promise<unknown>>> = {
  next: (run) => run.next().then((result) => (result.done ? over : "a result")),
  return: (run) => run.return(),
  throw: (run) => run.throw(stop).catch((error) => error),
  dispose: (run) => run[Symbol.asyncDispose](),
};

// What each step comes to, of a source of 100 requests; whether the source was begun, and so is closed.
const uses: readonly (readonly [steps: readonly Step[], outcome: readonly unknown[], closed: boolean])[] = [
  [["return", "next"], [over, over], false],
  [["throw", "next"], [stop, over], false],
  [["dispose", "next"], [undefined, over], false],
  [["next", "return", "next", "return"], ["a result", over, over, over], true],
  [["next", "throw", "next", "throw"], ["a result", stop, over, stop], true],
  [["next", "dispose", "next", "dispose"], ["a result", undefined, over, undefined], true],
  [["next", "return", "throw", "dispose"], ["a result", over, stop, undefined], true],
];

describe.each(["sync", "async"] as const)("with a source that is %s", (kind) => {
  test.each(uses)("%j, one after the other, are what a generator's are", async (wanted, outcome, closed) => {
    const { source, closed: isClosed } = sourceOf(kind);
    const run = rerankAll(connect(server.url), source);
    const seen: unknown[] = [];
    for (const step of wanted) seen.push(await steps[step](run));
    expect(seen).toEqual(outcome);
    await turns();
    expect(isClosed()).toBe(closed);
  });

  test.each<Step>(["return", "throw", "dispose"])("%s ends every next() that waits", async (step) => {
    server.reply(() => undefined);
    const { source } = sourceOf(kind);
    const run = rerankAll(connect(server.url), source);
    const waiting = [run.next(), run.next(), run.next()];
    await server.received(4);
    await steps[step](run);
    expect(await Promise.all(waiting)).toEqual([over, over, over]);
  });

  test("next() after the end is the end, however often it is asked for", async () => {
    const run = rerankAll(connect(server.url), sourceOf(kind, 2).source);
    const seen = [];
    for (let asked = 0; asked < 5; asked += 1) seen.push((await run.next()).done);
    expect(seen).toEqual([false, false, true, true, true]);
  });

  test("more are asked for at once than there are: each result is handed out once, then the end", async () => {
    const run = rerankAll(connect(server.url), sourceOf(kind, 3).source);
    const all = await Promise.all(Array.from({ length: 6 }, () => run.next()));
    expect(all.map(({ done, value }) => (done ? "end" : value?.id)).sort()).toEqual([
      "0",
      "1",
      "2",
      "end",
      "end",
      "end",
    ]);
  });

  test("two consumers of one run that fails: one is told, and both end", async () => {
    server.reply({ status: 403 });
    const run = rerankAll(connect(server.url), sourceOf(kind).source);
    const consume = async (): Promise<string> => {
      try {
        for await (const _ of run);
        return "ended";
      } catch (error) {
        return (error as { code: string }).code;
      }
    };
    expect((await Promise.all([consume(), consume()])).sort()).toEqual(["PERMISSION_DENIED", "ended"]);
  });

  test("two runs over one source share its requests, and one that is left ends it for the other", async () => {
    const { source, closed } = sourceOf(kind, 1000);
    const first = rerankAll(connect(server.url), source);
    const second = rerankAll(connect(server.url), source);
    const ids = [(await first.next()).value?.id, (await second.next()).value?.id];
    await first.return();
    for await (const { id } of second) ids.push(id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBeLessThan(1000);
    expect(closed()).toBe(true);
  });
});

test("throw rejects with its own error, also when the source fails to close", async () => {
  const source = {
    [Symbol.iterator]: () => ({
      next: () => ({ done: false, value: requestsOf(1)[0] }),
      return() {
        throw new Error("It does not close.");
      },
    }),
  };
  const run = rerankAll(connect(server.url), source as Iterable<RerankAllRequest>);
  await run.next();
  await expect(run.throw(stop)).rejects.toBe(stop);
});

test("a run that is over listens to its signal no more", async () => {
  const controller = new AbortController();
  const { signal } = controller;
  let listeners = 0;
  const counted = {
    get aborted() {
      return signal.aborted;
    },
    addEventListener(type: "abort", listener: () => void) {
      listeners += 1;
      signal.addEventListener(type, listener);
    },
    removeEventListener(type: "abort", listener: () => void) {
      listeners -= 1;
      signal.removeEventListener(type, listener);
    },
  };
  const [first, second] = [1, 2].map(() =>
    rerankAll(connect(server.url), requestsOf(9), { signal: counted }),
  ) as [RerankAllResults, RerankAllResults];
  await Promise.all([first.next(), second.next()]);
  expect(listeners).toBe(1);
  await first.return();
  expect(listeners).toBe(1);
  for await (const _ of second);
  expect(listeners).toBe(0);
});
