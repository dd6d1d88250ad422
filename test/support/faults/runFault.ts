import { setTimeout as pause } from "node:timers/promises";
import {
  type CallPromise,
  type Client,
  type ClientOptions,
  isStatusError,
  type StatusError,
} from "../../../src/index.js";
import { clientSockets } from "../clientSockets.js";
import { connect, type OperationCall } from "../clients.js";
import type { TestClock } from "../clock.js";
import { CannotHappenHere, type Fault, type Place } from "./fault.js";

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
    return await act(fault, operation, transport, await fault.start(), clock);
  } catch (error) {
    if (error instanceof CannotHappenHere) return { ...nothing, skipped: error.message };
    throw error;
  }
}

async function act(
  fault: Fault,
  operation: CalledOperation,
  transport: ClientOptions,
  place: Place,
  clock: TestClock | undefined,
): Promise<Seen> {
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
  return { ...result, requests, strayed, lateMs, left: closing(place, transport) };
}

// Time passes, from one timer to the next, only while neither side has anything to do.
async function passUntil<T>(running: Promise<T>, clock: TestClock, place: Place): Promise<T> {
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
export function statusErrorOf({ error }: Seen): StatusError | undefined {
  return isStatusError(error) ? error : undefined;
}
