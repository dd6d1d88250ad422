import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { Readable } from "node:stream";
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { Client, StatusError, UploadFile } from "../../../src/index.js";
import { transports } from "../../support/clients.js";
import { temporaryFolder } from "../../support/project.js";
import { sha256 } from "../../support/recordingServer.js";
import { holdsFor, plainClient, settled, within } from "./support/runs.js";
import { behaviour, isRefusal, type Logged, namesUnavailable, useFaultyService } from "./support/services.js";

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
  const service = useFaultyService();

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
      assert.ok(!mayHaveExecuted(earlier) || namesUnavailable(earlier.behaviour), "It was sent twice.");
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
        await holdsFor(cases, name === "fetch" ? 2_000 : 4_000, async (given) => {
          const { plan, upload, reused, maxRetries, renewed } = given;
          const id = `run-${seen.calls++}`;
          const log = service.plan(id, plan);
          const apiKey = renewed ? () => `key-of-${id}` : `key-of-${id}`;
          const client = plainClient(service.url, { ...options, maxRetries, apiKey });
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
          service.forget(id);
          await client.close();
        });
        for (const count of Object.values(seen)) expect(count).toBeGreaterThan(0);
      },
      within(300_000),
    );
  });
});
