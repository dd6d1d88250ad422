import type { ClientRequest } from "node:http";
import type { Socket } from "node:net";
import { fileChunks, type Multipart } from "../../files/multipart.js";
import { longestTimerMs } from "../../options/arguments.js";
import { type Body, isForm, type TransportRequest } from "../transport.js";
import { holdWriteErrors } from "./holdWriteErrors.js";

// More than a socket's buffers and one chunk hold: so much may be taken before any of it is seen to be.
const bufferedBytes = 4 * 1024 * 1024;
const shortestMs = 1000;

/** A request's body as node:http takes it, until it has been sent. */
export class Content {
  readonly #timeoutMs: number;
  #value: Body;
  #queued = false;
  #restTimer: NodeJS.Timeout | undefined;
  #letWritesFail: (() => void) | undefined;

  constructor({ body, timeoutMs }: TransportRequest) {
    this.#timeoutMs = timeoutMs;
    // A short text leaves in one write together with the headers; a long one is better not copied behind them.
    this.#value = typeof body === "string" && body.length >= 16_384 ? Buffer.from(body) : body;
  }

  /** Its size in bytes; undefined when that of a file is unknown. Without a body node:http knows which methods say so. */
  get length(): number | undefined {
    const value = this.#value;
    if (value === undefined) return undefined;
    return isForm(value) ? value.size : Buffer.byteLength(value);
  }

  /** Sends a text at once. What is queued for a socket holds no copy of its body, and of a file nothing is read. */
  begin(message: ClientRequest, queued: boolean): void {
    this.#queued = queued;
    if (!queued && !isForm(this.#value)) message.end(this.#value);
  }

  /** Goes on with the request's socket. @param connected Whether the socket has been made safe already. */
  take(message: ClientRequest, socket: Socket, connected: boolean, failed: (cause: unknown) => void): void {
    const value = this.#value;
    if (!connected || typeof value === "object") this.#letWritesFail = holdWriteErrors(socket);
    if (isForm(value)) this.#sendFile(message, value).catch(failed);
    // Node would announce the start of a request twice that ends inside of this event.
    else if (this.#queued) process.nextTick(() => message.end(value));
  }

  /** Waits for the rest of a file whose answer is there already, for as long as any of it is taken. */
  waitForRest(stalled: () => void): void {
    const value = this.#value;
    if (!isForm(value)) return;
    const ms = Math.min(stalledMs(value, this.#timeoutMs), longestTimerMs);
    this.#restTimer = setTimeout(stalled, ms);
  }

  /** Lets it go: an agent may hold on to a request that has ended. */
  end(): void {
    this.#value = undefined;
    clearTimeout(this.#restTimer);
    this.#restTimer = undefined;
    this.#letWritesFail?.();
  }

  // Each chunk once the one before has gone.
  async #sendFile(message: ClientRequest, form: Multipart): Promise<void> {
    if ((await written(message, form.head)) || message.destroyed) return;
    for await (const chunk of fileChunks(form.part)) {
      if (message.destroyed) return;
      await written(message, chunk);
      this.#restTimer?.refresh();
    }
    message.end(form.tail);
  }
}

// Without progress for so long, the server takes no more: what the buffers need at the slowest rate that still meets
// the deadline.
function stalledMs({ size, part }: Multipart, timeoutMs: number): number {
  return Math.max(shortestMs, (timeoutMs * bufferedBytes) / (size ?? part.maxFileBytes));
}

// Until it has gone, a chunk may not be overwritten by the next one read.
function written(message: ClientRequest, chunk: Uint8Array | string): Promise<unknown> {
  return new Promise((resolve) => message.write(chunk, resolve));
}
