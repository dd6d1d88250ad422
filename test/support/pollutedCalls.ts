// A program of its own: makes the same calls again and again, each time with another name on Object.prototype, and
// prints what came of them.
import {
  type CallOptions,
  type Client,
  type ClientOptions,
  createClient,
  throwIfFailed,
} from "../../src/index.js";
import { operationCalls } from "./clients.js";

type Make = (client: Client, options: CallOptions) => PromiseLike<unknown>;

const { env } = process;
const [resume, rerank, scale, upload] = operationCalls.map(({ call }): Make => call) as [
  Make,
  Make,
  Make,
  Make,
];
const items = ["Paris.", "Rome."];
const blob = new Blob(["x"]);
async function* chunks(): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode("one");
  yield new TextEncoder().encode("two");
}
const { signal: aborted } = (() => {
  const controller = new AbortController();
  controller.abort(new Error("enough"));
  return controller;
})();

/** The response that the service is asked for, and the call. */
const calls: readonly (readonly [response: string, make: Make])[] = [
  ["object", resume],
  ["object", rerank],
  ["object", scale],
  ["object", upload],
  ["not found", scale],
  // Repeated at once, with a fresh key.
  [
    "refused key",
    (client, options) => scale(client.withOptions({ apiKey: () => "k" }), { ...options, maxRetries: 1 }),
  ],
  ["overloaded", resume],
  ["web page", rerank],
  ["lost", scale],
  ["object", (client, options) => scale(client.withOptions({ baseUrl: env.CLOSED_URL }), options)],
  ["object", (client, options) => client.deployments.scale("", 1, options)],
  ["object", (client, options) => scale(client, { ...options, signal: aborted })],
  ["object", (client, options) => client.deployments.scale("prod", 1, options).withResponse()],
  [
    "ranking",
    (client, options) => client.rerank.items("q", items, { ...options, text: String }).withResponse(),
  ],
  ["bad ranking", (client, options) => client.rerank.items("q", items, { ...options, text: String })],
  ["object", (client, options) => client.datasets.upload("reviews", "package.json", options)],
  ["object", (client, options) => client.datasets.upload("reviews", blob, options)],
  ["object", (client, options) => client.datasets.upload("reviews", chunks(), { ...options, name: "f" })],
  [
    "object",
    async (client, options) =>
      throwIfFailed(await client.reinforcementFineTuningJobs.resume("job-1", options)),
  ],
];

const outcomes: Record<string, unknown[]> = {};

/** @param tag Goes with each request, so that the service knows what it was made under. */
async function callAll(tag: string): Promise<void> {
  const found: unknown[] = [];
  outcomes[tag] = found;
  uncaught = found;
  const events: unknown[] = [];
  const onAttempt = (event: unknown): void => void events.push(event);
  const fetch: ClientOptions = env.TRANSPORT === "fetch" ? { fetch: globalThis.fetch } : {};
  const client = createClient({ baseUrl: env.URL, accountId: "acme", maxRetries: 0, onAttempt, ...fetch });
  for (const [response, make] of calls) {
    const place = found.push(undefined) - 1;
    const running = (async () => make(client, { headers: { "x-tag": tag, "x-response": response } }))();
    running.then(
      (value) => {
        found[place] = { value };
      },
      (error) => {
        found[place] = {
          error,
          cause: error instanceof Error && Object.hasOwn(error, "cause") && error.cause,
        };
      },
    );
    await settled(() => found[place] !== undefined);
  }
  found.push(events);
}

function settled(done: () => boolean): Promise<void> {
  // A function named `then` keeps every promise from settling.
  const { then } = Object.prototype as { then?: unknown };
  const end = performance.now() + (typeof then === "function" ? 100 : 10_000);
  return new Promise((resolve) => {
    const look = (): void => {
      if (done() || performance.now() > end) resolve();
      else setImmediate(look);
    };
    look();
  });
}

const values = ["polluted", { polluted: "polluted" }, () => "polluted", 1];
const numbers = env.NUMBERS?.split(" ") ?? [];

// Node itself may fail where nobody can catch it.
let uncaught: unknown[] = [];
process.on("uncaughtException", (error) => uncaught.push(String(error)));

await callAll("clean");
for (const name of env.NAMES?.split(" ") ?? []) {
  for (const value of numbers.includes(name) ? values : values.slice(0, 3)) {
    const tag = `${name}:${typeof value}`;
    Object.defineProperty(Object.prototype, name, {
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    });
    try {
      await callAll(tag);
    } finally {
      Reflect.deleteProperty(Object.prototype, name);
    }
  }
}
const shown = (key: string, value: unknown): unknown =>
  key === "durationMs" || key === "date" ? undefined : value;
process.stdout.write(JSON.stringify(outcomes, shown), () => process.exit());
