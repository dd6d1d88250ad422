import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import busboy from "busboy";
import { afterAll, beforeAll } from "vitest";
import type { RerankRequest } from "../../../../src/index.js";
import { goodJson } from "../../../support/responses.js";

/** The response that the server is to send. */
export interface EchoResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** In base64. */
  readonly body: string;
}

/** A rerank request that tells the echo server which response to send. */
export function asking(response: EchoResponse): RerankRequest {
  return { query: JSON.stringify(response), documents: ["respond as the query says"] };
}

/** What a response's JSON holds otherwise; an upload's `filename` and `type` are those busboy read. */
export interface Echo {
  readonly headers: Readonly<Record<string, string>>;
  readonly filename?: string;
  readonly type?: string;
}

/** A real server that responds with what it received: the request line as a header, the rest as JSON. */
export class EchoServer {
  /** Requests received whole. */
  requests = 0;
  readonly #server: Server = createServer({ maxHeaderSize: 64 * 1024 }, (request, response) => {
    void this.#receive(request, response);
  });

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async start(): Promise<void> {
    await once(this.#server.listen(0, "127.0.0.1"), "listening");
  }

  async close(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const headers = headersOf(request);
    response.setHeader("x-received", `${request.method} ${request.url}`);
    response.setHeader("content-type", "application/json");
    if (headers["content-type"]?.startsWith("multipart/")) {
      const file = await fileOf(request);
      this.requests += 1;
      response.end(JSON.stringify({ ...goodJson, headers, ...file }));
      return;
    }
    const body = await text(request);
    // Node's fetch leaves out the body of the request it makes after a long 421.
    if (body === "") return void response.destroy();
    const { query } = JSON.parse(body) as { query?: string };
    this.requests += 1;
    if (query?.startsWith("{")) respond(response, JSON.parse(query) as EchoResponse);
    else response.end(JSON.stringify({ ...goodJson, headers }));
  }
}

// Node's own object of them has no place for "__proto__".
function headersOf({ rawHeaders }: IncomingMessage): Readonly<Record<string, string>> {
  const headers: Record<string, string> = Object.create(null);
  for (let at = 0; at < rawHeaders.length; at += 2) {
    headers[String(rawHeaders[at]).toLowerCase()] = String(rawHeaders[at + 1]);
  }
  return headers;
}

function respond(response: ServerResponse, { status, headers, body }: EchoResponse): void {
  response.writeHead(status, headers).end(Buffer.from(body, "base64"));
}

function fileOf(request: IncomingMessage): Promise<Pick<Echo, "filename" | "type">> {
  return new Promise((resolve) => {
    let file = {};
    const form = busboy({ headers: request.headers, defParamCharset: "utf8", preservePath: true });
    form.on("file", (_part, content, { filename, mimeType }) => {
      file = { filename, type: mimeType };
      content.resume();
    });
    form.on("close", () => resolve(file));
    // It reads names of up to 16 KiB.
    form.on("error", () => {
      request.unpipe(form).resume();
      resolve({});
    });
    request.pipe(form);
  });
}

/** An echo server for the tests of the calling file. */
export function useEchoServer(): EchoServer {
  const server = new EchoServer();
  beforeAll(() => server.start());
  afterAll(() => server.close());
  return server;
}
