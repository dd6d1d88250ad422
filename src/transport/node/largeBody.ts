import type { ClientRequest } from "node:http";
import type { Socket } from "node:net";
import { fileChunks, type Multipart } from "../../files/multipart.js";
import { longestTimerMs } from "../../options/arguments.js";
import { isLate, nextTurn, readOn } from "../time.js";
import { networkCode } from "../transport.js";

const closed: ReadonlySet<string> = new Set(["EPIPE", "ECONNRESET"]);

type Done = (error?: Error | null) => void;

/**
 * Lets a failed write be known only when what the server sent before it closed has been read: one that refuses a
 * large body may answer and close at once, and Node drops an unread answer with the first write that fails.
 * @returns Ends it.
 */
export function holdWriteErrors(socket: Socket): () => void {
  const { _write, _writev } = socket;
  socket._write = (chunk, encoding, done) => _write.call(socket, chunk, encoding, held(done));
  if (_writev) socket._writev = (chunks, done) => _writev.call(socket, chunks, held(done));
  return () => {
    socket._write = _write;
    if (_writev) socket._writev = _writev;
  };
}

// Between two turns of the loop everything that has arrived is read. What TLS says of itself is known at once.
function held(done: Done): Done {
  return (error) => {
    if (closed.has(networkCode(error))) nextTurn(() => nextTurn(() => done(error)));
    else done(error);
  };
}

// More than a socket's buffers and one chunk hold: so much may be taken before any of it is seen to be.
const bufferedBytes = 4 * 1024 * 1024;
const shortestMs = 1000;

/** A form with a file, on its way over node:http. */
export class SentForm {
  readonly #form: Multipart;
  readonly #timeoutMs: number;
  #restTimer: NodeJS.Timeout | undefined;
  #stalled: (() => void) | undefined;
  // Chunks that have gone.
  #written = 0;

  constructor(form: Multipart, timeoutMs: number) {
    this.#form = form;
    this.#timeoutMs = timeoutMs;
  }

  /** Sends it, each chunk once the one before has gone. */
  async send(message: ClientRequest): Promise<void> {
    const { head, part, tail } = this.#form;
    if ((await written(message, head)) || message.destroyed) return;
    for await (const chunk of fileChunks(part)) {
      if (message.destroyed) return;
      await written(message, chunk);
      this.#written += 1;
      if (this.#stalled) this.#startRest();
    }
    message.end(tail);
  }

  /** Waits for its rest when its response is there already, for as long as any of it is taken. */
  waitForRest(stalled: () => void): void {
    this.#stalled = stalled;
    this.#startRest();
  }

  end(): void {
    clearTimeout(this.#restTimer);
    this.#restTimer = this.#stalled = undefined;
  }

  #startRest(): void {
    clearTimeout(this.#restTimer);
    const ms = Math.min(stalledMs(this.#form, this.#timeoutMs), longestTimerMs);
    const dueAt = performance.now() + ms;
    const timer = setTimeout(() => {
      const end = (): void => {
        // Where any of it was taken since, another timer has been set.
        if (this.#restTimer === timer) this.#stalled?.();
      };
      readOn(isLate(dueAt, performance.now()), () => this.#written, end);
    }, ms);
    this.#restTimer = timer;
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
