import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Writable } from "node:stream";
import busboy from "busboy";
import fc, { type Arbitrary } from "fast-check";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { httpStatuses } from "../../../../src/generated/contract.js";
import type { RerankRequest } from "../../../../src/index.js";
import { type RecordingServer, useRecordingServer } from "../../../support/recordingServer.js";
import { goodJson, goodText } from "../../../support/responses.js";

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

/** What a response's JSON holds otherwise. */
export interface Echo {
  readonly headers: Readonly<Record<string, string>>;
}

/** A real server that responds with what it received: the request line as a header, the rest as JSON. */
export function useEchoServer(): RecordingServer {
  const server = useRecordingServer();
  beforeEach(() => {
    server.reply((request, response) => {
      const { method, url, headers, body: sent } = request;
      // Node's fetch leaves out the body of the request it makes after a long 421.
      if (sent.length === 0) return void response.destroy();
      const { query } = headers["content-type"] === "application/json" ? JSON.parse(`${sent}`) : {};
      if (!query?.startsWith("{"))
        return { headers: { "x-received": `${method} ${url}` }, json: { ...goodJson, headers } };
      const { status, headers: asked, body }: EchoResponse = JSON.parse(query);
      return { status, headers: asked, text: Buffer.from(body, "base64") };
    });
  });
  return server;
}

// 408 and 499: somebody stopped waiting, whatever the service did.
const mayHaveRun: ReadonlySet<number> = new Set([408, 499]);

/** Whether the table calls this status refused: the service then never does the work. */
export function isRefusal(status: number): boolean {
  return status === 501 || (status >= 400 && status < 500 && !mayHaveRun.has(status));
}

/** Whether a request brought a response in which the service named UNAVAILABLE. */
export function namesUnavailable({ outcome }: Behaviour): boolean {
  return "text" in outcome && outcome.text.includes('"UNAVAILABLE"');
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

/** What a service may do with a request; before a status that says refused it never does the work. */
export const behaviour: Arbitrary<Behaviour> = fc
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
  .map((each) => ({ ...each, works: worksBefore(each) }));

function worksBefore({ works, outcome }: Behaviour): boolean {
  if (!("status" in outcome)) return works;
  return !isRefusal(outcome.status) && (works || outcome.status < 300);
}

/** How the service ends a response it has begun. */
export type Ending = "whole" | "cut" | "reset" | "stalled";

/** What the service does with one request. */
export interface Behaviour {
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

/** One request as the service logged it. */
export interface Logged {
  readonly behaviour: Behaviour;
  worked: boolean;
  began: number | undefined;
  /** The SHA-256 of a file that came whole. */
  sha256?: string;
}

/** A real server that does what each run planned, request by request, and logs the work it did. */
export class FaultyService {
  readonly #plans: Map<string, { readonly plan: readonly Behaviour[]; readonly log: Logged[] }> = new Map();
  readonly #sockets: Set<Socket> = new Set();
  readonly #server: Server = createServer((request, response) => void this.#receive(request, response));

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

  /** Sets what becomes of the requests for one id, in order; those after the last are like it. Returns their log. */
  plan(id: string, plan: readonly Behaviour[]): readonly Logged[] {
    const log: Logged[] = [];
    this.#plans.set(id, { plan, log });
    return log;
  }

  forget(id: string): void {
    this.#plans.delete(id);
  }

  async close(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    request.on("error", () => {});
    response.on("error", () => {});
    const id = /\/([^/]+):\w+$/.exec(request.url ?? "")?.[1] ?? "";
    const run = this.#plans.get(id);
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
    const body = isForm ? request.pipe(formOf(request, logged)) : request.resume();
    if (!behaviour.early) body.on(isForm ? "close" : "end", act);
  }
}

function formOf({ headers }: IncomingMessage, logged: Logged): Writable {
  const hash = createHash("sha256");
  const form = busboy({ headers });
  form
    .on("error", () => {})
    .on("file", (_part, content) => {
      content.on("error", () => {}).on("data", (chunk) => hash.update(chunk));
      content.on("end", () => {
        logged.sha256 = hash.digest("hex");
      });
    });
  return form;
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

/** A faulty service for the tests of the calling file. */
export function useFaultyService(): FaultyService {
  const service = new FaultyService();
  beforeAll(() => service.start());
  afterAll(() => service.close());
  return service;
}
