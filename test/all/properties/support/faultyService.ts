import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { afterAll, beforeAll } from "vitest";
import { goodText } from "../../../support/responses.js";

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
    const logged: Logged = { behaviour, worked: false, began: undefined };
    run.log.push(logged);
    const act = () => {
      logged.worked = behaviour.works;
      if ("status" in behaviour.outcome) logged.began = behaviour.outcome.status;
      perform(behaviour, response);
    };
    request.resume();
    if (behaviour.early) act();
    else request.on("end", act);
  }
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
