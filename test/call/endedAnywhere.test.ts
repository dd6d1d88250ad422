import { execFileSync } from "node:child_process";
import { subscribe } from "node:diagnostics_channel";
import { closeSync, constants, open, openSync, readdirSync, readlinkSync } from "node:fs";
import { Agent } from "node:http";
import type { Socket } from "node:net";
import path from "node:path";
import { promisify } from "node:util";
import { Agent as UndiciAgent } from "undici";
import { beforeAll, describe, expect, test } from "vitest";
import { type CallOptions, type Client, type ClientOptions, isStatusError } from "../../src/index.js";
import { canaryKey } from "../support/canary.js";
import { connect, operationCalls } from "../support/clients.js";
import { useTestClock } from "../support/clock.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { done } from "../support/responses.js";
import { ending } from "../support/servers.js";
import { useTemporaryFile } from "../support/temporaryFile.js";
import { turns, until } from "../support/turns.js";

const server = useRecordingServer();
// The requests that Node's fetch has written: over an idle connection in the very turn, so the server may read one later.
let written = 0;
subscribe("undici:client:sendHeaders", () => {
  written += 1;
});
const clock = useTestClock();
const timeoutMs = 4000;
const file = useTemporaryFile(Buffer.from('{"text":"good"}\n'));

/** What ends a call. */
interface Door {
  readonly door: string;
  readonly code: "CANCELLED" | "DEADLINE_EXCEEDED";
  readonly isDerived?: boolean;
  open(client: Client, controller: AbortController): unknown;
}
const doors: readonly Door[] = [
  { door: "an abort", code: "CANCELLED", open: (_, controller) => controller.abort() },
  { door: "the deadline", code: "DEADLINE_EXCEEDED", open: () => clock.pass(timeoutMs) },
  ...[false, true].map((isDerived): Door => {
    const door = isDerived ? "close() of a derived client" : "close()";
    return { door, code: "CANCELLED", isDerived, open: (client) => client.close() };
  }),
];

type At = () => void;
/** Opens the door, then does what is asked. */
const first =
  <T>(at: At, then: (given: unknown) => T) =>
  (given?: unknown): T => {
    at();
    return then(given);
  };
const never = () => new Promise<never>(() => {});
type Call = (client: Client, options: CallOptions, at: At) => PromiseLike<unknown>;

/** Where a call is when it ends. `at` opens the door. */
interface Point {
  readonly point: string;
  /** The operations that pass here, if they are not all. */
  readonly only?: string;
  readonly call?: Call;
  readonly executed: "no" | "unknown" | "yes";
  options?(at: At): ClientOptions;
  serve?(at: At): void;
  /** Ends what nobody waits for any more. */
  after?(): unknown;
}

const ways = [
  {
    way: "node:http",
    around(around: Around): ClientOptions {
      const agent = ending(new Agent());
      const create = agent.createConnection.bind(agent) as (options: object) => Socket;
      return { agent: Object.assign(agent, { createConnection: (to: object) => around(() => create(to)) }) };
    },
  },
  {
    way: "a dispatcher",
    around(around: Around): ClientOptions {
      const agent = ending(new UndiciAgent());
      const dispatch = agent.dispatch.bind(agent);
      return {
        dispatcher: Object.assign(agent, {
          dispatch: (...given: Parameters<typeof dispatch>) => around(() => dispatch(...given)),
        }),
      };
    },
  },
  {
    way: "fetch",
    around: (around: Around): ClientOptions => ({
      fetch: (url, init) => around(() => fetch(url, init as RequestInit)) as never,
    }),
  },
] as const;
type Around = <T>(run: () => T) => T;

const points = (around: (typeof ways)[number]["around"]): readonly Point[] => [
  { point: "the line after it", executed: "no" },
  {
    point: "a later microtask",
    executed: "no",
    call: (client, options, at) => {
      const call = client.reinforcementFineTuningJobs.resume("job-1", options);
      queueMicrotask(at);
      return call;
    },
  },
  {
    point: "the apiKey function",
    executed: "no",
    options: (at) => ({ apiKey: first(at, () => canaryKey) }),
  },
  {
    point: "an apiKey that does not come",
    executed: "no",
    options: (at) => ({ apiKey: first(() => setImmediate(at), never) }),
  },
  { point: "the function that sends", executed: "no", options: (at) => around((run) => first(at, run)()) },
  {
    point: "the function that sends, at its end",
    executed: "no",
    options: (at) =>
      around((run) => {
        const result = run();
        at();
        return result;
      }),
  },
  { point: "the wait for headers", executed: "unknown", serve: (at) => server.reply(() => void at()) },
  {
    point: "the response's body",
    executed: "yes",
    serve: (at) =>
      server.reply((_, response) => {
        response.writeHead(200, { "content-type": "application/json" }).write('{"id":');
        void server.responseRead().then(at);
        return undefined;
      }),
  },
  {
    point: "the wait for a retry",
    executed: "unknown",
    options: (at) => ({ maxRetries: 2, onAttempt: () => setImmediate(at) }),
    serve: () =>
      server.reply({ status: 503, headers: { "retry-after": "2" }, json: { code: "UNAVAILABLE" } }),
  },
  ...ofOperations,
];

const ofOperations: readonly Point[] = [
  {
    point: "a getter of its body",
    only: "rerankDocuments",
    executed: "no",
    call: (client, options, at) => {
      const body = { query: "q", documents: ["d"] };
      return client.rerank(Object.defineProperty(body, "query", { get: first(at, () => "q") }), options);
    },
  },
  {
    point: "the text of an item",
    only: "rerankDocuments",
    executed: "no",
    call: (client, options, at) =>
      client.rerank.items("q", [1, 2, 3], {
        ...options,
        batchSize: 1,
        text: first(at, String),
      }),
  },
  {
    point: "the opening of its file",
    only: "uploadDatasetFile",
    executed: "no",
    call: (client, options, at) => {
      blockThreads();
      const call = client.datasets.upload("reviews", file, options);
      void turns(5).then(at);
      return call;
    },
    after: () => freeThreads(),
  },
  {
    point: "the stream of its Blob",
    only: "uploadDatasetFile",
    executed: "unknown",
    call: (client, options, at) => {
      const blob = new Blob(["{}\n"]);
      Object.assign(blob, { stream: first(at, () => new Blob(["{}\n"]).stream()) });
      return client.datasets.upload("reviews", blob, { ...options, name: "train.jsonl" });
    },
  },
  {
    point: "a chunk of its stream",
    only: "uploadDatasetFile",
    executed: "unknown",
    call: (client, options, at) => {
      async function* chunks(): AsyncGenerator<Uint8Array> {
        yield new Uint8Array(10);
        at();
        await never();
      }
      return client.datasets.upload("reviews", chunks(), { ...options, name: "train.jsonl" });
    },
  },
  {
    point: "the content of a request's Blob",
    only: "rerankDocuments",
    executed: "no",
    call: (client, options, at) => {
      const body = Object.assign(new Blob(["{}"]), {
        arrayBuffer: first(at, never),
      });
      return client.request({ method: "PUT", path: "/v1/x", body, contentType: "a/b" }, options);
    },
  },
];

// Four opens of a FIFO that nobody writes to: every thread that could open a file waits.
const fifos = ["a", "b", "c", "d"].map((name) => path.join(path.dirname(file), name));
beforeAll(() => void execFileSync("mkfifo", fifos));

let blocked: Promise<void>[] = [];
function blockThreads(): void {
  const opened = promisify(open);
  blocked = fifos.map(async (fifo) => closeSync(await opened(fifo, "r")));
}

async function freeThreads(): Promise<void> {
  // This opening needs no thread, as it waits for nobody.
  const writers = fifos.map((fifo) => openSync(fifo, constants.O_RDWR | constants.O_NONBLOCK));
  await Promise.all(blocked);
  for (const writer of writers) closeSync(writer);
}

function isFileOpen(): boolean {
  return readdirSync("/proc/self/fd").some((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`) === file;
    } catch {
      return false;
    }
  });
}

describe.each(ways)("$way", ({ way, around }) => {
  describe.each(points(around))("$point", ({ point, only, call, executed, options, serve, after }) => {
    const operations = operationCalls.filter(({ operation }) => !only || operation === only);
    describe.each(call ? operations.slice(0, 1) : operations)("$operation", (asked) => {
      test.each(doors)("$door", async ({ code, isDerived, open: openDoor }) => {
        // Node's fetch reads the Blob itself, and asks for the rest of a stream before it sends the first bytes.
        if (way === "fetch" && /Blob$|its stream/.test(point) && point !== "a chunk of its stream") return;
        const controller = new AbortController();
        written = 0;
        const count = (): number => (way === "fetch" ? written : server.requests.length);
        let sent: number | undefined;
        let client: Client;
        const at = (): void => {
          if (sent !== undefined) return;
          sent = count();
          void openDoor(client, controller);
        };
        serve?.(at);
        const base = connect(server.url, { ...around((run) => run()), ...options?.(at) });
        client = isDerived ? base.withOptions({}) : base;
        const given = { signal: controller.signal, timeoutMs };
        const promise = Promise.resolve(call ? call(client, given, at) : asked.call(client, given)).catch(
          (error: unknown) => error,
        );
        if (point === "the line after it") at();
        let outcome: unknown;
        void promise.then((value) => {
          outcome = value ?? "a success";
          // At its deadline, a call first reads for a turn what has arrived.
          if (code === "DEADLINE_EXCEEDED") sent = count();
        });
        await until(() => sent !== undefined);
        await turns(30);
        const early = outcome;
        await after?.();
        await promise;
        // A deadline in the wait for a retry leaves the error of the attempt before it.
        const isWaiting = code === "DEADLINE_EXCEEDED" && /retry/.test(point);
        expect(early, "it ends at once").toMatchObject({ code: isWaiting ? "UNAVAILABLE" : code });
        if (!isStatusError(early)) throw new Error("no StatusError");
        // A fetch function does not tell whether it has sent anything.
        expect(way === "fetch" ? ["no", "unknown", executed] : [executed]).toContain(early.executed);
        server.reply(done);
        await turns(10);
        await connect(server.url).request({ method: "GET", path: "/v1/probe" });
        expect(server.requests.pop()).toMatchObject({ url: "/v1/probe" });
        // The bytes of a small Blob may go out in that turn.
        if (point !== "the stream of its Blob" || code === "CANCELLED")
          expect(count(), "requests after the end").toBe(sent);
        expect(server.requests.length).toBeLessThanOrEqual(count());
        await until(() => !isFileOpen());
        await base.close();
      });
    });
  });
});
