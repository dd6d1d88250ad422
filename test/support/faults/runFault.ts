import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import type { CallPromise, Client, ClientOptions, StatusError } from "../../../src/index.js";
import { isStatusError } from "../../../src/index.js";
import { connect, type OperationCall } from "../clients.js";
import { CannotHappenHere, type Fault, type Place } from "./fault.js";

/** What came of a call to a faulty service. */
export interface Seen {
  /** Why the fault could not be had here; then there is nothing else. */
  readonly skipped?: string;
  readonly requests: number;
  readonly strayed: number;
  readonly value?: unknown;
  readonly error?: unknown;
  /** How long after its deadline the call settled. */
  readonly lateMs: number;
  /** The longest time the loop of calls and servers stood still meanwhile. */
  readonly stoodStillMs: number;
  /** Connections still open some time after the client was closed. */
  readonly left: Promise<number>;
}

const nothing = { requests: 0, strayed: 0, lateMs: 0, stoodStillMs: 0, left: Promise.resolve(0) };

/** Measured by a timer of its own: a busy machine, or this one loop for all calls and servers, delays both alike. */
class Deadline {
  #passedAt = Number.POSITIVE_INFINITY;
  readonly #timer: NodeJS.Timeout;

  constructor(ms: number) {
    this.#timer = setTimeout(() => {
      this.#passedAt = performance.now();
    }, ms);
  }

  /** Milliseconds since it passed; 0 before. */
  passedMs(): number {
    clearTimeout(this.#timer);
    return Math.max(0, performance.now() - this.#passedAt);
  }
}

/** Makes one call of the operation to the fault. */
export async function runFault(
  fault: Fault,
  operation: OperationCall,
  transport: ClientOptions,
): Promise<Seen> {
  try {
    return await act(fault, operation, transport, await fault.start());
  } catch (error) {
    if (error instanceof CannotHappenHere) return { ...nothing, skipped: error.message };
    throw error;
  }
}

async function act(
  fault: Fault,
  operation: OperationCall,
  transport: ClientOptions,
  place: Place,
): Promise<Seen> {
  const over = transport.fetch ? fault.overFetch?.client : {};
  const timeoutMs = over?.timeoutMs ?? fault.client?.timeoutMs ?? (fault.heavy ? 120_000 : 30_000);
  // Events would be searched for the key as well, which takes long; other tests do.
  const onAttempt = undefined;
  const own = {
    onAttempt,
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
  const loop = monitorEventLoopDelay({ resolution: 10 });
  loop.enable();
  const deadline = new Deadline(timeoutMs);
  const result = await settled(call(fault, operation, client));
  const lateMs = deadline.passedMs();
  loop.disable();
  const stoodStillMs = loop.max / 1e6;
  await client.close();
  const { requests, strayed } = place;
  return { ...result, requests, strayed, lateMs, stoodStillMs, left: closing(place, transport) };
}

function call(
  { bodyBytes }: Fault,
  { operation, call }: OperationCall,
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
  const looks = transport.fetch ? 240 : 20;
  for (let i = 0; i < looks && place.open > 0; i += 1) await pause(50);
  const left = place.open;
  await place.close();
  return left;
}

/** The StatusError a call rejected with; undefined for anything else. */
export function statusErrorOf({ error }: Seen): StatusError | undefined {
  return isStatusError(error) ? error : undefined;
}
