import { createServer, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import tls, { type TlsOptions } from "node:tls";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  type CallPromise,
  type Client,
  type ClientOptions,
  type Executed,
  isStatusError,
  type OperationId,
  type StatusCode,
  type StatusError,
} from "../../../src/index.js";
import { takeLeaks } from "../canary.js";
import { clientSockets, quiet, readByClient } from "../clientSockets.js";
import { connect, type OperationCall, operationCalls, transports } from "../clients.js";
import { TestClock } from "../clock.js";
import { type DecisionRow, decisionRows } from "../decisionRows.js";
import { goodText } from "../responses.js";
import { endServer, listen, socketsOf } from "../servers.js";
import { turns } from "../turns.js";

/** Where a faulty service is, and what it has seen. */
export interface Place {
  readonly options: ClientOptions & { readonly baseUrl: string };
  /** Requests whose headers came. */
  requests: number;
  /** Connections open now. */
  readonly sockets: ReadonlySet<Socket>;
  /** Connections to the other origin that redirects name. */
  readonly strayed: number;
  /** Resolves once neither it nor a client that came after these has anything to do. */
  quiet(before: ReadonlySet<Socket>): Promise<void>;
  /** Reads on where it had stopped: only so it learns that the other side has gone. */
  readOn(): void;
  close(): Promise<void>;
}

/** A place where no request ever arrives. */
export function nowhere(options: Place["options"], close: () => Promise<void> = async () => {}): Place {
  return {
    options,
    requests: 0,
    sockets: new Set(),
    strayed: 0,
    quiet: () => turns(),
    readOn: () => {},
    close,
  };
}

/** One way for a service to misbehave, and what must come of a call of each operation. */
export interface Fault {
  readonly name: string;
  readonly start: () => Promise<Place>;
  readonly outcomes: Outcomes;
  /** What becomes of it over Node's fetch, where that cannot be the same. */
  readonly overFetch?: {
    readonly outcomes?: Outcomes;
    /** Outcomes that are as right. */
    readonly or?: Outcomes;
    readonly client?: ClientOptions;
  };
  /** Options of the client. A fault with times of its own happens on a clock of the test's. */
  readonly client?: ClientOptions;
  /** The size of what rerank and upload send. @default a few bytes */
  readonly bodyBytes?: number;
  /** Has a good call come first, whose connection the faulty one can use; what to wait for between the two. */
  readonly afterGoodCall?: (place: Place) => Promise<unknown>;
  /** Takes so much memory or time that few may run at once. */
  readonly heavy?: boolean;
}

/** Thrown where a fault cannot be had on this machine. */
export class CannotHappenHere extends Error {}

/** What must come of a call. */
export interface Outcome {
  readonly code: StatusCode | "OK";
  readonly executed?: Executed;
  readonly inferred?: boolean;
  readonly codeSource?: string;
  /** Requests the server counts. */
  readonly requests: number;
  /** Requests the client makes. */
  readonly attempts: number;
}

/** What must come of a call of each operation. */
export type Outcomes = Readonly<Record<OperationId, Outcome>>;

/** The outcomes of an event of the decision table. @param seen False when the server can count no request. */
export function like(event: string, { seen = true }: { seen?: boolean } = {}): Outcomes {
  const row = decisionRows.find((candidate) => candidate.event === event);
  if (row === undefined) throw new Error(`The decision table has no event ${event}.`);
  return outcomesOf(row, seen);
}

/** The outcomes of a row of the decision table. */
export function outcomesOf({ operations, codeSource }: DecisionRow, seen = true): Outcomes {
  const outcomes = Object.entries(operations).map(([operation, expected]) => {
    const { requests, attempts = requests, code, executed, inferred } = expected;
    return [operation, { code, executed, inferred, codeSource, requests: seen ? requests : 0, attempts }];
  });
  return Object.fromEntries(outcomes) as Outcomes;
}

/** Success with the last of so many requests. */
export function successAfter(requests: number): Outcome {
  return { code: "OK", requests, attempts: requests };
}

const success = successAfter(1);

/** Success at once, of every operation. */
export const succeeds: Outcomes = succeeding(operationCalls);

/** The outcomes of an event that the first repeat does not meet. */
export function onceLike(event: string): Outcomes {
  const outcomes = Object.entries(like(event)).map(([operation, outcome]) => [
    operation,
    outcome.requests > 1 ? successAfter(2) : outcome,
  ]);
  return Object.fromEntries(outcomes) as Outcomes;
}

/** The same of a connection that was used before: what may not be sent twice takes a new one, and does not meet it. */
export function onceOnReuse(event: string): Outcomes {
  return { ...onceLike(event), ...succeeding(operationCalls.filter(({ safe }) => !safe)) };
}

function succeeding(calls: typeof operationCalls): Outcomes {
  return Object.fromEntries(calls.map(({ operation }) => [operation, success])) as Outcomes;
}

/** What the server does in one moment of one connection. */
export type Act = (socket: Socket, moment: Moment) => void;

/** Which moment it is. */
export interface Moment {
  /** The request's number on its connection, from 1; 0 before the first. */
  readonly request: number;
  /** The address of another origin. */
  readonly elsewhere: string;
}

/** How a server behaves. Left out, a moment passes in silence. */
export interface Behaviour {
  /** Once connected; then no request is read. */
  readonly connection?: Act;
  /** Once the headers of a request have come; its body is read on and ignored unless the socket is paused. */
  readonly headers?: Act;
  /** Once a request has come whole. */
  readonly request?: Act;
  readonly tls?: TlsOptions;
  readonly scheme?: "https";
}

/** Starts a service over bare sockets on a free port that behaves so, and counts what it sees. */
export async function serve(behaviour: Behaviour): Promise<Place> {
  const { connection, headers, request, tls: secure, scheme = secure ? "https" : "http" } = behaviour;
  const elsewhere = createServer((socket) => {
    place.strayed += 1;
    socket.on("error", () => {}).destroy();
  });
  const serveOne = (socket: Socket): void => {
    const moment = { request: 0, elsewhere: `http://127.0.0.1:${ports[1]}/elsewhere` };
    socket.on("error", () => {});
    if (connection) {
      connection(socket, moment);
      return;
    }
    readRequests(socket, {
      headers: (number) => {
        place.requests += 1;
        headers?.(socket, { ...moment, request: number });
      },
      request: (number) => request?.(socket, { ...moment, request: number }),
    });
  };
  const server = secure
    ? tls.createServer(secure, serveOne).on("tlsClientError", () => {})
    : createServer(serveOne);
  const sockets = socketsOf(server);
  const ports = await Promise.all([server, elsewhere].map((each) => listen(each)));
  const place = {
    options: { baseUrl: `${scheme}://127.0.0.1:${ports[0]}` },
    requests: 0,
    strayed: 0,
    sockets,
    quiet: (before: ReadonlySet<Socket>) => quiet(sockets, before),
    readOn() {
      for (const socket of sockets) socket.resume();
    },
    close: async () =>
      void (await Promise.all([endServer(server, sockets), endServer(elsewhere, new Set())])),
  };
  return place;
}

/** Finds where requests begin and end in the bytes of one connection; tells each by its number, from 1. */
function readRequests(
  socket: Socket,
  events: { headers(number: number): void; request(number: number): void },
): void {
  let number = 0;
  let left: Buffer = Buffer.alloc(0);
  // Bytes of the body still to come; undefined between requests.
  let missing: number | undefined;
  socket.on("data", (chunk: Buffer) => {
    left = Buffer.concat([left, chunk]);
    while (left.length > 0) {
      if (missing === undefined) {
        const end = left.indexOf("\r\n\r\n");
        if (end < 0) return;
        const length = /^content-length: *(\d+)\r?$/im.exec(left.toString("latin1", 0, end + 2))?.[1];
        left = left.subarray(end + 4);
        missing = Number(length ?? 0);
        number += 1;
        events.headers(number);
      }
      const taken = Math.min(missing, left.length);
      left = left.subarray(taken);
      missing -= taken;
      if (missing > 0) return;
      missing = undefined;
      events.request(number);
    }
  });
}

type Bytes = string | Uint8Array;
type Headers = Readonly<Record<string, string | number | readonly string[]>>;

/** A head of a response. */
export function head(status: string | number, headers: Headers = {}): string {
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().map((each) => `${name}: ${each}\r\n`),
  );
  return `HTTP/1.1 ${status}${typeof status === "number" ? " As Asked" : ""}\r\n${lines.join("")}\r\n`;
}

/** A whole response with its length. */
export function respond(status: string | number, body: Bytes, headers: Headers = {}): Buffer {
  const type = { "content-type": "application/json", "content-length": Buffer.byteLength(body), ...headers };
  return Buffer.concat([Buffer.from(head(status, type), "latin1"), Buffer.from(body as string)]);
}

/** A right response of any operation. */
export const good: Buffer = respond(200, goodText);

// Between two calls a busy machine may need more than the 4 s for which Node's fetch keeps a connection by default.
const goodAndKept = respond(200, goodText, { "keep-alive": "timeout=25" });

/** Does something else with all but the first request of a connection, and responds to that one as it should. */
export function afterGood(act: Act): Act {
  return (socket, moment) => (moment.request === 1 ? void socket.write(goodAndKept) : act(socket, moment));
}

/** Sends these bytes, and then nothing. */
export function send(...parts: readonly Bytes[]): Act {
  return (socket) => void socket.write(Buffer.concat(parts.map((part) => Buffer.from(part as string))));
}

/** Sends these bytes and closes. */
export function sendAndClose(...parts: readonly Bytes[]): Act {
  return (socket) => void socket.end(Buffer.concat(parts.map((part) => Buffer.from(part as string))));
}

/** Sends these bytes, gives them time to arrive, and resets. */
export function sendAndReset(...parts: readonly Bytes[]): Act {
  return (socket, moment) => {
    send(...parts)(socket, moment);
    void readByClient(socket).then(() => socket.resetAndDestroy());
  };
}

/** Sends some bytes at once, then the others one by one. */
export function drip(first: Bytes, rest: string, everyMs: number): Act {
  return (socket) => {
    socket.write(first);
    let timer: NodeJS.Timeout;
    const next = (sent: number): void => {
      if (sent >= rest.length) return;
      timer = setTimeout(() => {
        socket.write(rest.charAt(sent));
        next(sent + 1);
      }, everyMs);
    };
    next(0);
    socket.on("close", () => clearTimeout(timer));
  };
}

/** Sends some bytes, then the others again and again, as fast as they are taken. */
export function endless(first: Bytes, again: Bytes): Act {
  return (socket) => {
    socket.write(first);
    const more = (): void => {
      if (!socket.destroyed) socket.write(again, () => setImmediate(more));
    };
    more();
  };
}

/** As much of an operation as a fault needs. */
export type CalledOperation = Pick<OperationCall, "operation" | "call">;

/** What came of a call to a faulty service. */
export interface Seen {
  /** Why the fault could not be had here; then there is nothing else. */
  readonly skipped?: string;
  readonly requests: number;
  readonly strayed: number;
  readonly value?: unknown;
  readonly error?: unknown;
  /** How long after its deadline the call settled, by the test's clock. */
  readonly lateMs: number;
  /** Connections still open some time after the client was closed. */
  readonly left: Promise<number>;
}

const nothing = { requests: 0, strayed: 0, lateMs: 0, left: Promise.resolve(0) };

let nextPool = 10_000;

/** Makes one call of the operation to the fault. */
export async function runFault(
  fault: Fault,
  operation: CalledOperation,
  transport: ClientOptions,
  clock?: TestClock,
): Promise<Seen> {
  try {
    const place = await fault.start();
    const seen = await callOf(fault, operation, transport, place, clock);
    return { ...seen, left: closing(place, transport) };
  } catch (error) {
    if (error instanceof CannotHappenHere) return { ...nothing, skipped: error.message };
    throw error;
  }
}

/** Makes the call at a place that stays open. */
export async function callOf(
  fault: Fault,
  operation: CalledOperation,
  transport: ClientOptions,
  place: Place,
  clock: Pick<TestClock, "now" | "passToNext"> | undefined,
): Promise<Omit<Seen, "left">> {
  const over = transport.fetch ? fault.overFetch?.client : {};
  const timeoutMs = over?.timeoutMs ?? fault.client?.timeoutMs ?? 120_000;
  // Events would be searched for the key as well, which takes long; other tests do.
  const onAttempt = undefined;
  const own = {
    onAttempt,
    // A pool of its own: a server before may have had the same port.
    maxConnections: nextPool++,
    maxRetries: 2,
    timeoutMs,
    ...place.options,
    ...fault.client,
    ...transport,
    ...over,
  };
  const client = connect(place.options.baseUrl, own);
  if (fault.afterGoodCall) {
    await operation.call(client);
    await fault.afterGoodCall(place);
    place.requests = 0;
  }
  const endsAt = (clock?.now ?? 0) + timeoutMs;
  const running = settled(call(fault, operation, client));
  const result = await (clock ? passUntil(running, clock, place) : running);
  const lateMs = Math.max(0, (clock?.now ?? 0) - endsAt);
  await client.close();
  const { requests, strayed } = place;
  return { ...result, requests, strayed, lateMs };
}

// Time passes, from one timer to the next, only while neither side has anything to do.
async function passUntil<T>(
  running: Promise<T>,
  clock: Pick<TestClock, "passToNext">,
  place: Place,
): Promise<T> {
  const before = clientSockets();
  let over = false;
  const end = (): void => {
    over = true;
  };
  running.then(end, end);
  for (;;) {
    await place.quiet(before);
    if (over) return running;
    clock.passToNext();
  }
}

function call(
  { bodyBytes }: Fault,
  { operation, call }: CalledOperation,
  client: Client,
): CallPromise<unknown> {
  if (bodyBytes !== undefined && operation === "uploadDatasetFile") {
    return client.datasets.upload("reviews", new Uint8Array(bodyBytes), { name: "train.jsonl" });
  }
  if (bodyBytes !== undefined && operation === "rerankDocuments") {
    return client.rerank({ query: "capital of France", documents: ["x".repeat(bodyBytes)] });
  }
  return call(client);
}

async function settled(running: CallPromise<unknown>): Promise<{ value: unknown } | { error: unknown }> {
  try {
    return { value: await running };
  } catch (error) {
    return { error };
  }
}

// The connections of fetch are not the client's to close: Node keeps an idle one for 4 s, one in its handshake for 10.
async function closing(place: Place, transport: ClientOptions): Promise<number> {
  place.readOn();
  const seconds = transport.fetch ? 30 : 10;
  for (let looks = 0; looks < seconds * 20 && place.sockets.size > 0; looks += 1) await pause(50);
  const left = place.sockets.size;
  await place.close();
  return left;
}

/** The StatusError a call rejected with; undefined for anything else. */
export function statusErrorOf({ error }: Pick<Seen, "error">): StatusError | undefined {
  return isStatusError(error) ? error : undefined;
}

interface Run {
  readonly transport: (typeof transports)[number];
  readonly operation: OperationCall;
  readonly fault: Fault;
  readonly isTimed: boolean;
}

/**
 * Makes a call for each fault over each transport, of one operation after the other, and tests what came of it. What differs
 * by the operation is a matter of the decision table.
 * @param sampled Over one transport each, by turns
 */
export function testFaults(faults: readonly Fault[], { sampled }: { sampled: boolean }): void {
  // Node's fetch keeps a connection that it used by the test's clock for as long as that clock was ahead, some 20 s: in a process
  // that others use, that is no way for what uses one again.
  const wayOf = (fault: Fault, at: number) => (fault.afterGoodCall ? 0 : at % 2);
  const runs = faults.flatMap((fault, at) =>
    runsOf(fault, at).filter((_, way) => !sampled || way === wayOf(fault, at)),
  );
  const seen = new Map<Run, Seen>();
  const unhandled: unknown[] = [];
  const leaks: string[] = [];
  const note = (error: unknown): void => void unhandled.push(error);

  beforeAll(async () => {
    process.on("unhandledRejection", note).on("uncaughtException", note);
    // Calls wait side by side, each with a server and a client of its own; where time counts, one after another.
    for (const [atOnce, phase, clock] of [
      [50, runs.filter(({ isTimed, fault }) => !isTimed && !fault.heavy)],
      [2, runs.filter(({ isTimed, fault }) => !isTimed && fault.heavy)],
      [1, runs.filter(({ isTimed }) => isTimed), new TestClock()],
    ] as readonly [number, Run[], TestClock?][]) {
      const lane = async (): Promise<void> => {
        for (let run = phase.shift(); run; run = phase.shift()) {
          seen.set(run, await runFault(run.fault, run.operation, run.transport.options, clock));
        }
      };
      clock?.install();
      await Promise.all(Array.from({ length: atOnce }, lane));
      clock?.remove();
      leaks.push(...takeLeaks());
    }
    await Promise.all([...seen.values()].map(({ left }) => left));
  }, 300_000);
  afterAll(() => void process.off("unhandledRejection", note).off("uncaughtException", note));

  test.each(runs)("$fault.name: $operation.operation over $transport.name", async (run) => {
    const { skipped } = seen.get(run) ?? {};
    if (skipped === undefined) await expectRight(run, seen.get(run));
    else console.warn(`SKIPPED: ${run.fault.name}: ${skipped}`);
  });

  test("no rejection and no exception was left unhandled, and no error shows the key", () =>
    expect([unhandled, leaks]).toEqual([[], []]));
}

// A large body is the matter of what sends one.
function runsOf(fault: Fault, at: number): readonly Run[] {
  const calls = operationCalls.filter(
    ({ operation }) =>
      fault.bodyBytes === undefined || /^(uploadDatasetFile|rerankDocuments)$/.test(operation),
  );
  return transports.map((transport, way) => {
    const { fetch } = transport.options;
    const { timeoutMs, connectTimeoutMs } = { ...fault.client, ...(fetch && fault.overFetch?.client) };
    // An upload never goes out on a connection that was idle for a second.
    const isTimed =
      timeoutMs !== undefined || connectTimeoutMs !== undefined || fault.afterGoodCall !== undefined;
    return { transport, operation: calls[(at + way) % calls.length] as OperationCall, fault, isTimed };
  });
}

async function expectRight({ transport, operation, fault }: Run, seen: Seen | undefined): Promise<void> {
  if (seen === undefined) throw new Error("The call was not made.");
  const over = transport.options.fetch ? fault.overFetch : undefined;
  const expected = (over?.outcomes ?? fault.outcomes)[operation.operation];
  const allowed = [expected, ...(over?.or ? [over.or[operation.operation]] : [])];
  expect(allowed.flatMap((outcome) => cautious(outcome, transport))).toContainEqual(foundIn(seen));
  const error = statusErrorOf(seen);
  if (error) expect(error.operation).toBe(operation.operation);
  expect(JSON.stringify(seen.value) ?? "").not.toContain("poison");
  expect([seen.lateMs, seen.strayed, await seen.left]).toEqual([0, 0, 0]);
}

// Attempts are told of by errors alone.
function foundIn(seen: Seen): object {
  const { requests } = seen;
  const error = statusErrorOf(seen);
  if (!error) return "error" in seen ? { thrown: seen.error } : { code: "OK", requests };
  const { code, executed, inferred, codeSource, attempts } = error;
  return { code, executed, inferred, codeSource, requests, attempts: attempts.length };
}

// A fetch function tells less of the network: it may not know that nothing ran, never the reverse.
function cautious(outcome: Outcome, { options }: Run["transport"]): readonly object[] {
  const { attempts: _, ...succeeded } = outcome;
  if (outcome.code === "OK") return [succeeded];
  const careful = options.fetch && outcome.executed === "no";
  return careful ? [outcome, { ...outcome, executed: "unknown" }] : [outcome];
}
