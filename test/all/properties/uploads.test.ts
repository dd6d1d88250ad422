import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import path from "node:path";
import { Readable } from "node:stream";
import busboy from "busboy";
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import type { UploadFile } from "../../../src/index.js";
import { transports } from "../../support/clients.js";
import { temporaryFolder } from "../../support/project.js";
import { holdsFor, plainClient, settled, within } from "./support/runs.js";

/** What goes wrong with one upload, after so many bytes of its body. */
interface UploadFault {
  readonly kind:
    | "none"
    | "reset"
    | "close"
    | "refuse"
    | "pause"
    | "cutResponse"
    | "resetResponse"
    | "unavailable";
  readonly afterBytes: number;
  readonly status: number;
}

/** A real server that hashes what it stores, with a fault for each request. */
class StoringServer {
  /** The SHA-256 of each file that came whole, by dataset. */
  readonly stored: Map<string, string> = new Map();
  readonly #faults: Map<string, UploadFault[]> = new Map();
  readonly #sockets: Set<Socket> = new Set();
  readonly #server: Server = createServer((request, response) => this.#receive(request, response));

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async start(): Promise<void> {
    this.#server.on("connection", (socket: Socket) => {
      this.#sockets.add(socket);
      socket.on("error", () => {}).on("close", () => this.#sockets.delete(socket));
    });
    await once(this.#server.listen(0, "127.0.0.1"), "listening");
  }

  /** Sets the faults of a dataset's next requests; after them nothing goes wrong. */
  plan(dataset: string, faults: readonly UploadFault[]): void {
    this.#faults.set(dataset, [...faults]);
  }

  async close(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #receive(request: IncomingMessage, response: ServerResponse): void {
    request.on("error", () => {});
    response.on("error", () => {});
    const dataset = /datasets\/([^/]+):upload$/.exec(request.url ?? "")?.[1] ?? "";
    const fault = this.#faults.get(dataset)?.shift() ?? { kind: "none", afterBytes: 0, status: 0 };
    const form = busboy({ headers: request.headers });
    const hash = createHash("sha256");
    form.on("error", () => {});
    form.on("file", (_part, content) =>
      content.on("error", () => {}).on("data", (chunk) => hash.update(chunk)),
    );
    form.on("close", () => {
      const sha256 = hash.digest("hex");
      this.stored.set(dataset, sha256);
      respond(response, fault, sha256);
    });
    let received = 0;
    const interrupt = (chunk: Buffer): void => {
      received += chunk.byteLength;
      if (received < fault.afterBytes) return;
      request.off("data", interrupt);
      disturb(request, response, fault, form);
    };
    request.pipe(form);
    request.on("data", interrupt);
  }
}

function disturb(
  request: IncomingMessage,
  response: ServerResponse,
  { kind, status }: UploadFault,
  form: NodeJS.WritableStream,
): void {
  if (kind === "reset") request.socket.resetAndDestroy();
  if (kind === "close") request.socket.destroy();
  if (kind === "refuse" || kind === "unavailable") {
    request.unpipe(form).resume();
    const code = kind === "unavailable" ? "UNAVAILABLE" : undefined;
    response.writeHead(kind === "unavailable" ? 503 : status, { "retry-after-ms": "1" });
    response.end(JSON.stringify({ code, message: "Not now." }));
  }
  if (kind === "pause") {
    request.unpipe(form).pause();
    setTimeout(() => request.pipe(form), 20);
  }
}

function respond(response: ServerResponse, { kind }: UploadFault, sha256: string): void {
  const text = JSON.stringify({ id: "file-1", object: "file", sha256 });
  if (kind !== "cutResponse" && kind !== "resetResponse") {
    response.end(text);
    return;
  }
  response.writeHead(200, { "content-length": `${text.length}` });
  response.write(text.slice(0, 20), () => {
    if (kind === "cutResponse") response.destroy();
    else response.socket?.resetAndDestroy();
  });
}

/** A storing server for the tests of the calling file. */
function useStoringServer(): StoringServer {
  const server = new StoringServer();
  beforeAll(() => server.start());
  afterAll(() => server.close());
  return server;
}

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
    ..."none none reset close refuse pause cutResponse resetResponse".split(" "),
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
