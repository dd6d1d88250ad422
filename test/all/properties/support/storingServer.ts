import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import busboy from "busboy";
import { afterAll, beforeAll } from "vitest";

/** What goes wrong with one upload, after so many bytes of its body. */
export interface UploadFault {
  readonly kind:
    | "none"
    | "reset"
    | "close"
    | "refuse"
    | "pause"
    | "cutAnswer"
    | "resetAnswer"
    | "unavailable";
  readonly afterBytes: number;
  readonly status: number;
}

/** A real server that hashes what it stores, with a fault for each request. */
export class StoringServer {
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
      answer(response, fault, sha256);
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

function answer(response: ServerResponse, { kind }: UploadFault, sha256: string): void {
  const text = JSON.stringify({ id: "file-1", object: "file", sha256 });
  if (kind !== "cutAnswer" && kind !== "resetAnswer") {
    response.end(text);
    return;
  }
  response.writeHead(200, { "content-length": `${text.length}` });
  response.write(text.slice(0, 20), () => {
    if (kind === "cutAnswer") response.destroy();
    else response.socket?.resetAndDestroy();
  });
}

/** A storing server for the tests of the calling file. */
export function useStoringServer(): StoringServer {
  const server = new StoringServer();
  beforeAll(() => server.start());
  afterAll(() => server.close());
  return server;
}
