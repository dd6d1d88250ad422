import { createHash } from "node:crypto";
import { once } from "node:events";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import busboy from "busboy";
import { readByClient } from "./clientSockets.js";
import { done } from "./responses.js";
import { TestServer, useServer } from "./servers.js";
import { until } from "./turns.js";

/** A file part as busboy, a parser that is not ours, understood it. */
interface ReceivedFile {
  readonly part: string;
  readonly filename: string | undefined;
  readonly mimeType: string;
  readonly bytes: Buffer;
  readonly sha256: string;
}

/** One request as it came over the wire. */
export interface ReceivedRequest {
  readonly method: string;
  /** Path and query, not decoded. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  /** The parts that are not files, by name. */
  readonly fields: Readonly<Record<string, string>>;
  readonly files: readonly ReceivedFile[];
}

/** The response to send; `json` and `text` exclude each other. */
export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly text?: string | Uint8Array;
}

/** Decides the response; a script that returns nothing writes to `response` itself, or leaves it waiting. */
export type Script = (request: ReceivedRequest, response: ServerResponse) => Reply | undefined;

/** A real server on a free port that remembers what it received. */
export class RecordingServer extends TestServer {
  requests: ReceivedRequest[] = [];
  #script: Script = () => done;
  #socket: Socket | null = null;

  /** Responds to every request from now on. */
  reply(script: Reply | Script): void {
    this.#script = typeof script === "function" ? script : () => script;
  }

  /** The only request since the last reset. */
  get only(): ReceivedRequest {
    const [request, ...others] = this.requests;
    if (request === undefined || others.length > 0) {
      throw new Error(`Expected one request, received ${this.requests.length}.`);
    }
    return request;
  }

  /** Resolves once so many requests have been received whole, with the last of them. */
  async received(count = 1): Promise<ReceivedRequest> {
    await until(() => this.requests.length >= count, `the server receives ${count} requests`);
    return this.requests[count - 1] as ReceivedRequest;
  }

  /** Resolves once the client has taken in all that was written to the connection of the last request. */
  async responseRead(): Promise<void> {
    await readByClient(this.#socket);
  }

  /** Never ends an idle connection: then only the client can. */
  keepSocketsOpen(): void {
    this.server.keepAliveTimeout = 0;
  }

  override reset(): void {
    super.reset();
    this.requests = [];
    this.#script = () => done;
  }

  protected async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request).catch(() => undefined);
    if (body === undefined) return;
    const { method = "", url = "", headers, rawHeaders } = request;
    const received = { method, url, headers, rawHeaders, body, ...(await parseForm(headers, body)) };
    this.requests.push(received);
    this.#socket = response.socket;
    const reply = this.#script(received, response);
    if (reply === undefined) return;
    const { status = 200, json, text = JSON.stringify(json) } = reply;
    response.writeHead(status, { "content-type": "application/json", ...reply.headers });
    response.end(text);
  }
}

async function parseForm(
  headers: IncomingHttpHeaders,
  body: Buffer,
): Promise<Pick<ReceivedRequest, "fields" | "files">> {
  const fields: Record<string, string> = {};
  const files: Promise<ReceivedFile>[] = [];
  if (!headers["content-type"]?.startsWith("multipart/")) return { fields, files: [] };
  const parser = busboy({ headers, defParamCharset: "utf8", preservePath: true });
  parser.on("field", (name, value) => {
    fields[name] = value;
  });
  parser.on("file", (part, stream, { filename, mimeType }) => {
    files.push(buffer(stream).then((bytes) => ({ part, filename, mimeType, bytes, sha256: sha256(bytes) })));
  });
  const parsed = once(parser, "close");
  Readable.from([body]).pipe(parser);
  await parsed;
  return { fields, files: await Promise.all(files) };
}

/** The SHA-256 of some bytes, in hexadecimal. */
export function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** A recording server for the tests of the calling file, forgetting between them. */
export function useRecordingServer(): RecordingServer {
  return useServer(new RecordingServer());
}
