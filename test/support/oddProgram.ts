// A program of its own whose texts are hard to make; it calls faulty services and prints what came of each call.
// `ODD` names what is odd about it.
import { EventEmitter } from "node:events";
import { ClientRequest, IncomingMessage } from "node:http";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { inspect } from "node:util";
import type { Agent } from "undici";
import type { AttemptEvent, ClientOptions } from "../../src/index.js";
import { isStatusError } from "../../src/index.js";
import { DispatcherExchange } from "../../src/transport/undici.js";
import { type OperationCall, operationCalls } from "./clients.js";
import { TestClock } from "./clock.js";
import { faults } from "./faults/faults.js";
import type { Fault } from "./faults/runFault.js";
import { runFault } from "./faults/runFault.js";
import { ForwardProxy } from "./forwardProxy.js";
import { listen } from "./servers.js";

const fail = (): never => {
  throw new RangeError("No text for you.");
};

/** What is odd about the program itself. */
const programs: Readonly<Record<string, () => unknown>> = {
  "a stack that is frames": () => {
    Error.prepareStackTrace = (_error, frames) => frames;
  },
  "frozen errors": freezeErrors,
  "a logger and an inspect that throw": () => {
    Object.defineProperty(Error.prototype, inspect.custom, { value: fail });
    console.error = fail;
  },
};

// undici assigns to its errors what they inherit: without members of their own that can be written, it makes none.
async function freezeErrors(): Promise<void> {
  const server = createServer((socket) => socket.destroy());
  const port = await listen(server);
  const lost = (await fetch(`http://127.0.0.1:${port}`).catch(({ cause }) => cause)) as object;
  server.close();
  for (let owner = lost; owner !== Error.prototype; owner = Object.getPrototypeOf(owner)) ownMembers(owner);
  ownMembers(undici.errors.UndiciError.prototype);
  Object.freeze(Error.prototype);
}

function ownMembers(owner: object): void {
  for (const name of ["name", "message"])
    Object.defineProperty(owner, name, { value: "", writable: true, configurable: true });
}

/** What is odd about every error of the network. What facts are read from, such as its code, stays. */
const spoilers: Readonly<Record<string, (error: object) => void>> = {
  "a message that is no string": (error) => {
    Object.defineProperty(error, "stack", { value: 42 });
    Object.defineProperty(error, "message", { value: { toString: 1 } });
  },
  "getters that throw": (error) => {
    // The stack first: Node makes it of the others.
    for (const name of ["stack", "message", "name", "errors", "errno", "address", "port", "rawPacket"])
      Object.defineProperty(error, name, { get: fail });
  },
  "a toString that throws": (error) => {
    const hostile = { toString: fail, [Symbol.toPrimitive]: fail };
    Object.defineProperties(error, Object.getOwnPropertyDescriptors({ ...hostile, message: hostile }));
    Object.assign(error, { errors: 7, hostname: hostile });
  },
};

const passwords: Readonly<Record<string, string>> = {
  "a proxy whose password is plain": "pass-word1",
  "a proxy whose password is not Latin-1": "pass\u20acword1",
};

const odd = process.env.ODD ?? "";

// Spoiled where the client gets it: what Node and undici do with it is over by then.
function spoilErrors(spoil: (error: object) => void): void {
  const { emit } = EventEmitter.prototype;
  EventEmitter.prototype.emit = function (name, ...given: unknown[]) {
    const isOurs = this instanceof ClientRequest || this instanceof IncomingMessage;
    if (name === "error" && isOurs) spoil(given[0] as object);
    return emit.call(this, name, ...given);
  };
  const { onResponseError } = DispatcherExchange.prototype;
  DispatcherExchange.prototype.onResponseError = function (controller, error) {
    spoil(error);
    onResponseError.call(this, controller, error);
  };
  const { read } = ReadableStreamDefaultReader.prototype;
  ReadableStreamDefaultReader.prototype.read = async function (...given: []) {
    return read.call(this, ...given).catch(respoiled(spoil)) as never;
  };
}

function respoiled(spoil: (error: object) => void): (error: object) => never {
  return (error) => {
    spoil(error);
    throw error;
  };
}

interface Way {
  readonly way: string;
  readonly options: ClientOptions;
  readonly end?: () => Promise<void>;
}

const undici = createRequire(import.meta.url)("undici") as typeof import("undici");

function waysOf(proxy: ForwardProxy | undefined): readonly (() => Way)[] {
  if (proxy) {
    const url = new URL(proxy.url);
    url.username = "me";
    url.password = passwords[odd] ?? "";
    return [
      () => ({ way: "proxy", options: { proxy: url.href, agent: undefined, allowInsecureHttp: true } }),
    ];
  }
  const { [odd]: spoil = () => {} } = spoilers;
  return [
    () => ({ way: "node:http", options: {} }),
    () => ({
      way: "fetch",
      options: { fetch: (url: string, init: never) => fetch(url, init).catch(respoiled(spoil)) as never },
    }),
    () => {
      const agent: Agent = new undici.Agent();
      const dispatcher = agent as never;
      return {
        way: "dispatcher",
        options: { dispatcher, agent: undefined, maxConnections: undefined, connectTimeoutMs: undefined },
        end: () => agent.destroy(),
      };
    },
  ];
}

interface Run {
  readonly fault: Fault;
  readonly operation: OperationCall;
  readonly make: () => Way;
}

// Each fault with one operation over one way, another with the next.
function runs(proxy: ForwardProxy | undefined): readonly Run[] {
  return faults.flatMap((fault, i) => {
    if (fault.name.includes("backlog") || (proxy && isTimed(fault))) return [];
    return waysOf(proxy).map((make, at) => ({
      fault,
      operation: operationCalls[(i + at) % operationCalls.length] as OperationCall,
      make,
    }));
  });
}

function isTimed({ client, afterGoodCall, overFetch }: Fault): boolean {
  const { timeoutMs, connectTimeoutMs } = { ...overFetch?.client, ...client };
  return timeoutMs !== undefined || connectTimeoutMs !== undefined || afterGoodCall !== undefined;
}

async function rowOf({ fault, operation, make }: Run, clock?: TestClock): Promise<string> {
  const { way, options: over, end } = make();
  const events: string[] = [];
  const isLogged = odd.startsWith("a logger");
  const onAttempt = ({ number, code, httpStatus, waitMs }: AttemptEvent): void => {
    events.push([number, code, httpStatus, waitMs].join("/"));
    if (isLogged) fail();
  };
  const logged: ClientOptions = isLogged ? { logger: fail, logLevel: "debug" } : {};
  const proxied = way === "proxy" ? throughProxy(fault) : fault;
  const seen = await runFault(proxied, operation, { onAttempt, ...logged, ...over }, clock);
  await end?.();
  const told = isStatusError(seen.error) ? factsOf(seen.error) : { thrown: "error" in seen };
  const found = { ...told, requests: seen.requests, events };
  return `${fault.name} | ${operation.operation} | ${way} | ${JSON.stringify(found)}`;
}

function factsOf(error: object): object {
  const { code, executed, executedBecause, notRetried, codeSource, httpStatus, attempts, message } =
    error as import("../../src/index.js").StatusError;
  const made = attempts.map((attempt) => [attempt.code, attempt.httpStatus]);
  const hasText = typeof message === "string" && message.startsWith(`[${code}] `);
  return { code, executed, executedBecause, notRetried, codeSource, httpStatus, made, hasText };
}

// The one name that the proxy knows: loopback addresses never go through one.
function throughProxy(fault: Fault): Fault {
  const start: Fault["start"] = async () => {
    const place = await fault.start();
    const baseUrl = place.options.baseUrl.replace("127.0.0.1", "service.test");
    return Object.defineProperty(place, "options", { value: { ...place.options, baseUrl } });
  };
  return { ...fault, start };
}

async function main(): Promise<void> {
  // No waits, and the same draws in each program.
  Math.random = () => 0;
  const proxy = odd in passwords ? new ForwardProxy() : undefined;
  await proxy?.start();
  await programs[odd]?.();
  if (spoilers[odd]) spoilErrors(spoilers[odd]);
  setTimeout(() => process.exit(1), 200_000).unref();
  const rows: string[] = [];
  const unhandled: string[] = [];
  process.on("uncaughtException", (error) => void unhandled.push(String(error)));
  const phase = async (atOnce: number, phaseRuns: readonly Run[], clock?: TestClock): Promise<void> => {
    const left = [...phaseRuns];
    const lane = async (): Promise<void> => {
      for (let run = left.shift(); run; run = left.shift()) rows.push(await rowOf(run, clock));
    };
    clock?.install();
    await Promise.all(Array.from({ length: atOnce }, lane));
    clock?.remove();
  };
  const all = runs(proxy);
  // What waits until its bytes have arrived comes before what unpacks.
  const isFirst = ({ fault }: Run) => !isTimed(fault) && !fault.heavy && fault.name.includes("reset");
  await phase(20, all.filter(isFirst));
  await phase(
    20,
    all.filter((run) => !isTimed(run.fault) && !run.fault.heavy && !isFirst(run)),
  );
  await phase(
    2,
    all.filter(({ fault }) => !isTimed(fault) && fault.heavy),
  );
  await phase(
    1,
    all.filter(({ fault }) => isTimed(fault)),
    new TestClock(),
  );
  process.stdout.write(JSON.stringify({ rows: rows.sort(), unhandled }), () => process.exit(0));
}

main().catch((error: unknown) => {
  process.stderr.write(String(error));
  process.exit(1);
});
