import { getEventListeners } from "node:events";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import {
  type RerankAllAttempt,
  type RerankAllRequest,
  type RerankAllResults,
  rerankAll,
} from "../../src/bulk/index.js";
import { useNoBackoff } from "../support/backoff.js";
import { queryOf } from "../support/bulkFiles.js";
import { endOf, good, requestsOf } from "../support/bulkRuns.js";
import { connect } from "../support/clients.js";
import { TestClock } from "../support/clock.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { networkError } from "../support/transientCodes.js";
import { isPending, turns, until } from "../support/turns.js";
import { expectNothingUnhandled } from "../support/unhandled.js";

describe("a source of rows", () => {
  const server = useRecordingServer();
  beforeEach(() => server.reply(good));
  expectNothingUnhandled();

  type Source = Iterable<RerankAllRequest> | AsyncIterable<RerankAllRequest>;
  type Next = () => unknown;

  const broken = new Error("It cannot be read.");
  const fails = (): never => {
    throw broken;
  };
  const request = (id: string): RerankAllRequest => ({ id, query: id, documents: ["a"] });

  /** A source made by hand: what comes after one good request. */
  interface Misused {
    readonly next: Next;
    /** How often `return` was called. */
    closed: number;
  }

  const protocols = [
    {
      protocol: "sync",
      // What a next() of this kind returns.
      returning: (result: () => unknown) => result(),
      sourceOf: (iterator: object): Source => ({ [Symbol.iterator]: () => iterator }) as Source,
    },
    {
      protocol: "async",
      returning: async (result: () => unknown) => result(),
      sourceOf: (iterator: object): Source => ({ [Symbol.asyncIterator]: () => iterator }) as Source,
    },
  ] as const;

  // All is finished that a run takes while nobody asks: its source is left alone.
  const untilFull = async (): Promise<void> => {
    await until(() => server.requests.length >= 5);
    await server.responseRead();
    await turns(60);
  };

  const got = <T>(name: string, get: () => T): object =>
    Object.defineProperty({}, name, { get, enumerable: true });
  const element = (value: unknown): unknown => ({ done: false, value });

  // What next() comes to, how the loop ends, and whether the source is closed: it is as long as it works itself.
  const misuses: readonly (readonly [what: string, next: () => unknown, error: unknown, closed: number])[] = [
    ["an element's field throws when it is read", () => element(got("documents", fails)), broken, 1],
    ["an element's id throws when it is read", () => element(got("id", fails)), broken, 1],
    ["an element is a proxy that throws", () => element(new Proxy({}, { ownKeys: fails })), broken, 1],
    ["next() comes to undefined", () => undefined, /next\(\) .* undefined/, 0],
    ["next() comes to null", () => null, /next\(\) .* null/, 0],
    ["next() comes to a number", () => 5, /next\(\) .* 5/, 0],
    ["next() comes to nothing with a done that throws", () => got("done", fails), broken, 0],
    ["next() comes to a value that throws", () => got("value", fails), broken, 0],
    ["next() throws", fails, broken, 0],
  ];

  async function loop(source: Source): Promise<{ ids: string[]; error: unknown }> {
    const ids: string[] = [];
    try {
      for await (const { id } of rerankAll(connect(server.url), source)) ids.push(id);
      return { ids, error: undefined };
    } catch (error) {
      return { ids, error };
    }
  }

  describe.each(protocols)("a source that is $protocol", ({ returning, sourceOf }) => {
    function misused(next: Next): Misused & object {
      let asked = 0;
      return {
        closed: 0,
        next: () => (asked++ === 0 ? returning(() => element(request("good"))) : returning(next)),
        return() {
          this.closed += 1;
          return returning(() => ({ done: true, value: undefined }));
        },
      } as Misused & object;
    }

    test.each(misuses)(
      "%s: thrown from the loop, after the results before it",
      async (_, next, error, closed) => {
        const source = misused(next);
        const { ids, error: thrown } = await loop(sourceOf(source));
        expect(ids).toEqual(["good"]);
        if (error instanceof RegExp) expect(String(thrown)).toMatch(error);
        else expect(thrown).toBe(error);
        expect(source.closed).toBe(closed);
      },
    );

    test("an iterable that cannot begin ends the loop with its own error", async () => {
      const source = sourceOf({});
      const key = Symbol.iterator in source ? Symbol.iterator : Symbol.asyncIterator;
      expect((await loop({ [key]: fails } as unknown as Source)).error).toBe(broken);
      expect((await loop({ [key]: () => undefined } as unknown as Source)).error).toBeInstanceOf(TypeError);
    });

    test("a return that fails is thrown to whoever leaves the loop, and to nobody else", async () => {
      const source = misused(() => element(request("more")));
      Object.assign(source, { return: () => returning(fails) });
      const run = rerankAll(connect(server.url), sourceOf(source));
      await run.next();
      await untilFull();
      await expect(run.return?.()).rejects.toBe(broken);
      expect(await run.next()).toEqual({ done: true, value: undefined });
    });
  });

  describe("a source that yields late", () => {
    const endings: readonly (readonly [
      string,
      (settle: (result: unknown) => void, fail: (error: unknown) => void) => void,
    ])[] = [
      ["an element", (settle) => settle(element(request("late")))],
      ["an element that throws when it is read", (settle) => settle(element(got("id", fails)))],
      ["undefined", (settle) => settle(undefined)],
      ["its end", (settle) => settle({ done: true })],
      ["an error", (_, fail) => fail(broken)],
    ];

    test.each(endings)("with %s, after the loop was left: it is ignored", async (_, end) => {
      let respond: (() => void) | undefined;
      const next = () => new Promise((resolve, reject) => (respond = () => end(resolve, reject)));
      const source = { [Symbol.asyncIterator]: () => ({ next }) } as unknown as Source;
      const run = rerankAll(connect(server.url), source);
      const waiting = run.next();
      await until(() => respond !== undefined);
      await run.return?.();
      expect(await waiting).toEqual({ done: true, value: undefined });
      respond?.();
      await isPending(new Promise(() => {}));
      expect(await run.next()).toEqual({ done: true, value: undefined });
      expect(server.requests.filter((received) => queryOf(received) === "late")).toEqual([]);
    });
  });

  test("an element whose inner parts throw when they are sent is a result or ends the loop, and hangs nothing", async () => {
    const documents = new Proxy(["a"], { get: fails });
    const run = rerankAll(connect(server.url), [request("a"), { ...request("b"), documents }, request("c")], {
      ordered: true,
    });
    const found: unknown[] = [];
    for await (const { id, error } of run) found.push([id, error?.code]);
    expect(found).toEqual([
      ["a", undefined],
      ["b", "INVALID_ARGUMENT"],
      ["c", undefined],
    ]);
  });
});

describe("a process without a free file", () => {
  useNoBackoff();

  /** A machine that has so many sockets, and no more. */
  function machineWith(
    sockets: number,
    code: string,
    respond = () => turns(2),
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
        await respond();
        open -= 1;
        return Response.json(good.json);
      },
    };
  }

  test.each(["EMFILE", "ENFILE"])(
    "%s lowers the number at once to what this machine can open, and nothing is lost",
    async (code) => {
      const { fetch, refused } = machineWith(20, code);
      const limits: number[] = [];
      const onAttempt = ({ concurrency }: RerankAllAttempt): void => void limits.push(concurrency);
      const options = { concurrency: 64, onAttempt };
      const { all } = await endOf(
        rerankAll(connect("http://127.0.0.1:9", { fetch }), requestsOf(300), options),
      );
      const ids = requestsOf(300).map(({ id }) => id);
      expect(all.map(({ id, error }) => error ?? id).sort()).toEqual(ids.sort());
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
    clock.install();
    onTestFinished(() => clock.remove());
    const client = connect("http://127.0.0.1:9", { fetch });
    const { all } = await clock.until(endOf(rerankAll(client, requestsOf(1000), { onAttempt })));
    expect(new Set(all.map(({ id, error }) => error ?? id)).size).toBe(1000);
    // 16 at once, 6 too many; four are left to the rest of the process.
    expect(Math.max(...limits)).toBe(16);
    expect(limits.at(-1)).toBe(6);
    expect(refused()).toBe(6);
  });

  test("a machine that can open nothing is no endless run: each request ends in its own time", async () => {
    const { fetch } = machineWith(0, "EMFILE");
    const found: unknown[] = [];
    const run = rerankAll(connect("http://127.0.0.1:9", { fetch }), requestsOf(3), { timeoutMs: 200 });
    for await (const { id, error } of run) found.push([id, error?.code, error?.executed]);
    expect(found.sort()).toEqual([
      ["0", "UNAVAILABLE", "no"],
      ["1", "UNAVAILABLE", "no"],
      ["2", "UNAVAILABLE", "no"],
    ]);
  });
});

describe("the iterator of a run", () => {
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
    test.each(uses)(
      "%j, one after the other, are what a generator's are",
      async (wanted, outcome, closed) => {
        const { source, closed: isClosed } = sourceOf(kind);
        const run = rerankAll(connect(server.url), source);
        const seen: unknown[] = [];
        for (const step of wanted) seen.push(await steps[step](run));
        expect(seen).toEqual(outcome);
        await turns();
        expect(isClosed()).toBe(closed);
      },
    );

    test.each<Step>(["return", "throw", "dispose"])("%s ends every next() that waits", async (step) => {
      server.reply(() => undefined);
      const { source } = sourceOf(kind);
      const run = rerankAll(connect(server.url), source);
      const waiting = [run.next(), run.next(), run.next()];
      await server.received(4);
      await steps[step](run);
      expect(await Promise.all(waiting)).toEqual([over, over, over]);
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
      const consume = async () => (await endOf(run)).error?.code ?? "ended";
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
    const { signal } = new AbortController();
    const listeners = (): number => getEventListeners(signal, "abort").length;
    const [first, second] = [1, 2].map(() => rerankAll(connect(server.url), requestsOf(9), { signal })) as [
      RerankAllResults,
      RerankAllResults,
    ];
    await Promise.all([first.next(), second.next()]);
    expect(listeners()).toBe(1);
    await first.return();
    expect(listeners()).toBe(1);
    for await (const _ of second);
    expect(listeners()).toBe(0);
  });
});
