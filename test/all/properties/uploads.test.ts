import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { Readable } from "node:stream";
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import type { UploadFile } from "../../../src/index.js";
import { transports } from "../../support/clients.js";
import { temporaryFolder } from "../../support/project.js";
import { plainClient } from "./support/client.js";
import { settled } from "./support/failures.js";
import { holdsFor, within } from "./support/runs.js";
import { type UploadFault, useStoringServer } from "./support/storingServer.js";

const server = useStoringServer();
let folder: string;
let remove: () => Promise<void>;

beforeAll(async () => {
  ({ folder, remove } = await temporaryFolder());
});
afterAll(() => remove());
beforeEach(() => {
  vi.spyOn(Math, "random").mockReturnValue(0);
});
afterEach(() => {
  vi.restoreAllMocks();
});

const mostBytes = 2 * 1024 * 1024;
const random = new Uint8Array(mostBytes + 256);
for (let at = 0; at < random.byteLength; at += 65_536) {
  crypto.getRandomValues(random.subarray(at, Math.min(at + 65_536, random.byteLength)));
}

async function* pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += 50_000) yield bytes.slice(at, at + 50_000);
}

const sources: Readonly<
  Record<string, (bytes: Uint8Array<ArrayBuffer>, name: string) => Promise<UploadFile>>
> = {
  async path(bytes, name) {
    const file = path.join(folder, name);
    await writeFile(file, bytes);
    return file;
  },
  bytes: async (bytes) => bytes,
  blob: async (bytes) => new Blob([bytes]),
  readable: async (bytes) => Readable.from(pieces(bytes)),
  webStream: async (bytes) => new Blob([bytes]).stream() as ReadableStream<Uint8Array<ArrayBuffer>>,
  generator: async (bytes) => pieces(bytes),
};

const size = fc.oneof(fc.nat(mostBytes), fc.constantFrom(0, 1, 65_536, 1_048_576, mostBytes));
const fault = fc.record<UploadFault>({
  kind: fc.constantFrom(
    ..."none none reset close refuse pause cutAnswer resetAnswer".split(" "),
    // The one that makes an upload come twice.
    ...Array(8).fill("unavailable"),
  ) as fc.Arbitrary<UploadFault["kind"]>,
  afterBytes: fc.nat(mostBytes),
  status: fc.constantFrom(401, 413, 429, 500, 503),
});
const cases = fc.record({
  size,
  offset: fc.nat(255),
  source: fc.constantFrom(...Object.keys(sources)),
  sized: fc.boolean(),
  faults: fc.array(fault, { maxLength: 3 }),
  transport: fc.constantFrom(...transports),
});

test(
  "what an upload that succeeded has stored is the file, whatever went wrong",
  async () => {
    const seen = { uploads: 0, succeeded: 0, failed: 0, repeated: 0 };
    await holdsFor(
      cases,
      200,
      async ({ size, offset, source, sized, faults, transport }) => {
        const dataset = `dataset-${seen.uploads++}`;
        const bytes = random.slice(offset, offset + size);
        server.plan(dataset, faults);
        const file = await sources[source]?.(bytes, dataset);
        const options = { name: "train.jsonl", timeoutMs: 20_000, ...(sized && { size }) };
        const client = plainClient(server.url, { ...transport.options, maxRetries: 2 });
        const { value, error } = await settled(() =>
          client.datasets.upload(dataset, file as UploadFile, options).withResponse(),
        );
        await client.close();
        seen[error === undefined ? "succeeded" : "failed"] += 1;
        if (value === undefined) return;
        const sha256 = createHash("sha256").update(bytes).digest("hex");
        assert.equal((value.data as { sha256?: unknown }).sha256, sha256);
        assert.equal(server.stored.get(dataset), sha256);
        if (value.attempts.length > 1) seen.repeated += 1;
      },
      4,
    );
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(0);
  },
  within(300_000),
);
