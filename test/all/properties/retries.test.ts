import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import path from "node:path";
import { Readable } from "node:stream";
import busboy from "busboy";
import fc, { type Arbitrary } from "fast-check";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { httpStatuses } from "../../../src/generated/contract.js";
import type { Client, StatusError, UploadFile } from "../../../src/index.js";
import { transports } from "../../support/clients.js";
import { temporaryFolder } from "../../support/project.js";
import { sha256 } from "../../support/recordingServer.js";
import { goodText } from "../../support/responses.js";
import { listen } from "../../support/servers.js";
import { holdsFor, isRefusal, plainClient, settled, within } from "./runs.js";

/** How the service ends a response it has begun. */
type Ending = "whole" | "cut" | "reset" | "stalled";

/** What the service does with one request. */
interface Behaviour {
  /** Whether it acts on the headers alone, before the body came. */
  readonly early: boolean;
  /** Whether it does the work first. */
  readonly works: boolean;
  /** Whether an interim response (102) comes first. */
  readonly interim: boolean;
  readonly outcome:
    | { readonly network: "reset" | "close" | "silence" }
    | {
        readonly status: number;
        readonly text: string;
        readonly headers: Record<string, string>;
        readonly ending: Ending;
      };
}

const ending: Arbitrary<Ending> = fc.oneof(
  { weight: 20, arbitrary: fc.constant("whole") },
  { weight: 3, arbitrary: fc.constantFrom("cut", "reset") },
  { weight: 1, arbitrary: fc.constant("stalled") },
);
const names = Object.keys(httpStatuses).filter((code) => code !== "OK");
const refusals = [400, 401, 402, 403, 404, 405, 409, 412, 413, 416, 421, 422, 425, 429, 431, 451, 501];
const others = [301, 302, 307, 408, 499, 500, 502, 503, 504, 520, 529];

const bodyText = fc.oneof(
  fc.constantFrom("", "busy", "<html>", "null"),
  fc.constantFrom(...names).map((code) => JSON.stringify({ code, message: "As asked." })),
  fc.constantFrom(...names).map((status) => JSON.stringify({ error: { message: "As asked.", status } })),
);
// So short that a repeat comes at once.
const headers = fc.constantFrom({}, {}, { "retry-after-ms": "1" }, { "retry-after": "0" });

const responded = fc
  .record({
    status: fc.oneof(
      fc.constantFrom(...refusals),
      fc.constantFrom(...others),
      fc.constantFrom(421, 425, 429, 503),
    ),
    text: bodyText,
    headers,
    ending,
  })
  .map((outcome) => ({
    ...outcome,
    headers: { ...outcome.headers, location: "http://127.0.0.1:1/elsewhere" },
  }));
const unavailable = fc.record({
  status: fc.constant(503),
  text: fc.constant(JSON.stringify({ code: "UNAVAILABLE" })),
  headers,
  ending: fc.constant<Ending>("whole"),
});
const succeeded = fc.record({
  status: fc.constantFrom(200, 200, 201, 204),
  text: fc.constantFrom(goodText, goodText, '{"id":', "<html></html>", "OK"),
  headers: fc.constant({}),
  ending,
});
const network = fc.record({
  network: fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom("reset" as const, "close" as const) },
    { weight: 1, arbitrary: fc.constant("silence" as const) },
  ),
});

// Before a status that says refused the service never does the work.
const behaviour: Arbitrary<Behaviour> = fc
  .record({
    early: fc.boolean(),
    works: fc.boolean(),
    interim: fc.oneof(
      { weight: 9, arbitrary: fc.constant(false) },
      { weight: 1, arbitrary: fc.constant(true) },
    ),
    outcome: fc.oneof(
      { weight: 5, arbitrary: responded },
      { weight: 3, arbitrary: unavailable },
      { weight: 2, arbitrary: succeeded },
      { weight: 2, arbitrary: network },
    ),
  })
  .map((each) => {
    const { works, outcome } = each;
    if (!("status" in outcome)) return each;
    return { ...each, works: !isRefusal(outcome.status) && (works || outcome.status < 300) };
  });

/** One request as the service logged it. */
interface Logged {
  readonly behaviour: Behaviour;
  worked: boolean;
  began: number | undefined;
  /** The SHA-256 of a file that came whole. */
  sha256?: string;
}

// What becomes of the requests for one id, in order; those after the last are like it.
const plans = new Map<string, { readonly plan: readonly Behaviour[]; readonly log: Logged[] }>();

// Does what each run planned, request by request, and logs the work it did.
const server = createServer((request, response) => {
  request.on("error", () => {});
  response.on("error", () => {});
  const run = plans.get(/\/([^/]+):\w+$/.exec(request.url ?? "")?.[1] ?? "");
  const behaviour = run?.plan[Math.min(run.log.length, run.plan.length - 1)];
  if (run === undefined || behaviour === undefined) {
    request.resume().on("end", () => response.end(goodText));
    return;
  }
  const isForm = request.headers["content-type"]?.startsWith("multipart/");
  const logged: Logged = { behaviour, worked: false, began: undefined };
  run.log.push(logged);
  const act = () => {
    logged.worked = behaviour.works;
    if ("status" in behaviour.outcome) logged.began = behaviour.outcome.status;
    perform(behaviour, response);
  };
  if (behaviour.early) act();
  // "close" comes once the form, if there is one, was read whole.
  const body = isForm ? readForm(request, logged) : request.resume();
  if (!behaviour.early) body.on(isForm ? "close" : "end", act);
});
let url = "";
beforeAll(async () => {
  url = `http://127.0.0.1:${await listen(server)}`;
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
});

function readForm(request: IncomingMessage, logged: Logged): busboy.Busboy {
  const hash = createHash("sha256");
  const form = busboy({ headers: request.headers });
  form
    .on("error", () => {})
    .on("file", (_part, content) => {
      content.on("error", () => {}).on("data", (chunk) => hash.update(chunk));
      content.on("end", () => {
        logged.sha256 = hash.digest("hex");
      });
    });
  return request.pipe(form);
}

function perform({ interim, outcome }: Behaviour, response: ServerResponse): void {
  if (interim) response.writeProcessing();
  if ("network" in outcome) {
    if (outcome.network === "reset") response.socket?.resetAndDestroy();
    if (outcome.network === "close") response.socket?.destroy();
    return;
  }
  const { status, text, headers, ending } = outcome;
  if (ending === "whole") {
    response.writeHead(status, headers).end(text);
    return;
  }
  response.writeHead(status, { ...headers, "content-length": `${text.length + 10}` });
  response.write(text, () => {
    if (ending === "cut") response.destroy();
    if (ending === "reset") response.socket?.resetAndDestroy();
  });
}

const sizes = [0, 10, 200_000];
const random = Buffer.concat(Array.from({ length: 4 }, () => crypto.getRandomValues(new Uint8Array(65_536))));
const hashes = new Map(sizes.map((size) => [size, sha256(random.slice(0, size))]));

const sources: Readonly<Record<string, (bytes: Uint8Array<ArrayBuffer>) => Promise<UploadFile>>> = {
  bytes: async (bytes) => bytes,
  blob: async (bytes) => new Blob([bytes]),
  readable: async (bytes) => Readable.from(pieces(bytes)),
  webStream: async (bytes) => new Blob([bytes]).stream() as ReadableStream<Uint8Array<ArrayBuffer>>,
  generator: async (bytes) => pieces(bytes),
  path: async (bytes) => path.join(folder, `${bytes.byteLength}`),
};

async function* pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += 50_000) yield bytes.slice(at, at + 50_000);
}

let folder: string;
let remove: () => Promise<void>;
beforeAll(async () => {
  ({ folder, remove } = await temporaryFolder());
  for (const size of sizes) await writeFile(path.join(folder, `${size}`), random.slice(0, size));
});
afterAll(() => remove());

describe("what is sent", () => {
  // The shortest wait the backoff can draw: what counts here is how often, not when.
  beforeEach(() => {
    vi.spyOn(Math, "random").mockReturnValue(0);
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  const cases = fc.record({
    plan: fc.array(behaviour, { minLength: 1, maxLength: 4 }),
    upload: fc.constantFrom(undefined, undefined, ...sizes),
    source: fc.constantFrom(...Object.keys(sources)),
    sized: fc.boolean(),
    // A call before this one leaves a connection to be used again.
    reused: fc.boolean(),
    maxRetries: fc.constantFrom(2, 2, 2, 1),
    renewed: fc.boolean(),
  });

  type Case = typeof cases extends fc.Arbitrary<infer T> ? T : never;

  async function callOf(client: Client, id: string, given: Case): Promise<unknown> {
    const { upload: size, source, sized } = given;
    const options = { timeoutMs: 5_000, attemptTimeoutMs: 500 };
    if (size === undefined) return client.reinforcementFineTuningJobs.resume(id, options);
    const file = await sources[source]?.(random.slice(0, size));
    const more = { name: "train.jsonl", ...(sized && { size }), ...options };
    return client.datasets.upload(id, file as UploadFile, more);
  }

  /** Whether the service may have done the work for a request, as far as its response tells. */
  function mayHaveExecuted({ behaviour: { outcome } }: Logged): boolean {
    return !("status" in outcome) || !isRefusal(outcome.status);
  }

  function sentOnce(log: readonly Logged[]): void {
    for (const earlier of log.slice(0, -1)) {
      const { outcome } = earlier.behaviour;
      const isUnavailable = "text" in outcome && outcome.text.includes('"UNAVAILABLE"');
      assert.ok(!mayHaveExecuted(earlier) || isUnavailable, "It was sent twice.");
    }
  }

  function tellsTheTruth(log: readonly Logged[], error: StatusError | undefined): void {
    const worked = log.some((each) => each.worked);
    const succeeded = log.some(({ began }) => began !== undefined && began >= 200 && began < 300);
    if (error === undefined) assert.ok(log.at(-1)?.worked);
    if (error?.executed === "no") assert.ok(!worked, "It ran, and the error says that it did not.");
    if (error?.executed === "yes") assert.ok(succeeded, "No success began, and the error says that it ran.");
  }

  describe.each(transports)("over $name", ({ name, options }) => {
    test(
      "resume and upload are never sent twice where both can have executed, executed is never wrongly no, and what is stored is the file",
      async () => {
        const seen = { calls: 0, repeats: 0, no: 0, unknown: 0, yes: 0, succeeded: 0, stored: 0 };
        await holdsFor(cases, name === "fetch" ? 1_000 : 2_000, async (given) => {
          const { plan, upload, reused, maxRetries, renewed } = given;
          const id = `run-${seen.calls++}`;
          const log: Logged[] = [];
          plans.set(id, { plan, log });
          const apiKey = renewed ? () => `key-of-${id}` : `key-of-${id}`;
          const client = plainClient(url, { ...options, maxRetries, apiKey });
          if (reused) await client.reinforcementFineTuningJobs.resume("planned-by-nobody");
          const { error } = await settled(() => callOf(client, id, given));
          sentOnce(log);
          tellsTheTruth(log, error);
          const stored = log.at(-1)?.sha256;
          if (upload !== undefined && error === undefined && stored !== undefined) {
            assert.equal(stored, hashes.get(upload), "What is stored is not the file.");
            seen.stored += 1;
          }
          seen.repeats += Math.max(0, log.length - 1);
          seen[error?.executed ?? "succeeded"] += 1;
          plans.delete(id);
          await client.close();
        });
        for (const count of Object.values(seen)) expect(count).toBeGreaterThan(0);
      },
      within(300_000),
    );
  });
});
