// One writer for a file, also on several machines: who writes it says so every few seconds in the file beside it.
import { closeSync, existsSync, fdatasync, fdatasyncSync, unlinkSync } from "node:fs";
import { type LeaseRequest, leaseTimes } from "./leaseWatch.js";
import { cannotGoOn } from "./rowWriter.js";
import { filesBeside, parsed, type RunFileState, readText, tokenOf, writeState } from "./runFile.js";

/** The right to write a file, which is held until it is released, or until another run takes it over. */
export class Lease {
  /** What else has to hold while it is held. */
  alsoHolds: () => boolean = () => true;
  readonly #request: LeaseRequest;
  readonly #file: number;
  readonly #state: RunFileState;
  readonly #since: number = performance.now();
  readonly #lost: AbortController = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #isSyncing = false;
  #isOver = false;

  constructor(request: LeaseRequest, file: number, state: RunFileState) {
    this.#request = request;
    this.#file = file;
    this.#state = state;
    this.#renewLater();
  }

  /** Aborted with the reason, when another run has taken the file over. */
  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  /** Whether somebody who had it may still write into the file. */
  get mustCopy(): boolean {
    return this.#state.uncopied === true;
  }

  /** Notes that nobody else can write into the file any more. */
  noteCopied(): void {
    delete this.#state.uncopied;
    this.#write();
  }

  get hasTorn(): boolean {
    return this.#state.torn === true;
  }

  /** @throws Error when another run has taken the file over */
  check(): void {
    this.signal.throwIfAborted();
    const text = readText(filesBeside(this.#request.path).run);
    if (tokenOf(text) !== this.#token || !this.alsoHolds()) this.#fail(this.#lostTo(text));
    this.signal.throwIfAborted();
  }

  /** Notes that there is a copy of what was cut, before it is made. */
  noteTorn(): void {
    this.#state.torn = true;
    this.#write();
  }

  #write(): void {
    writeState(this.#file, this.#state);
    fdatasyncSync(this.#file);
  }

  /** Lets others write the file. @param hasEndedWell Then there is no copy of what was cut any more */
  release(hasEndedWell: boolean): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    try {
      this.check();
      if (hasEndedWell) this.#removeTorn();
      delete this.#state.lease;
      // Of a run that was refused there is nothing left.
      if (!existsSync(this.#request.path)) unlinkSync(filesBeside(this.#request.path).run);
      else writeState(this.#file, this.#state);
    } finally {
      if (!this.#isSyncing) closeSync(this.#file);
    }
  }

  #removeTorn(): void {
    if (!this.hasTorn) return;
    const { torn } = filesBeside(this.#request.path);
    if (existsSync(torn)) unlinkSync(torn);
    delete this.#state.torn;
  }

  get #token(): string | undefined {
    return this.#state.lease?.token;
  }

  #renewLater(): void {
    this.#timer = setTimeout(() => this.#renew(), leaseTimes().renewMs);
    this.#timer.unref();
  }

  // Without waiting: the disk may take long. What is not forced to it, other machines do not see.
  #renew(): void {
    const { lease } = this.#state;
    if (lease === undefined) return;
    lease.counter += 1;
    lease.heldMs = Math.round(performance.now() - this.#since);
    try {
      writeState(this.#file, this.#state);
      this.check();
    } catch (error) {
      this.#fail(error);
      return;
    }
    this.#isSyncing = true;
    fdatasync(this.#file, (error) => {
      this.#isSyncing = false;
      if (this.#isOver) closeSync(this.#file);
      else if (error) this.#fail(error);
      else this.#renewLater();
    });
  }

  #fail(error: unknown): void {
    const isErrno = (error as NodeJS.ErrnoException).code !== undefined;
    this.#lost.abort(isErrno ? cannotGoOn(this.#request.option, error) : error);
  }

  #lostTo(text: string | undefined): Error {
    const { option, run } = this.#request;
    const other = parsed(text);
    const holder = other?.lease === undefined ? "" : `, process ${other.lease.pid} on ${other.lease.host}`;
    const reason =
      other === undefined || other.run === run
        ? "was moved, removed or replaced while this run was writing it, or the file beside it was"
        : `was taken over by another run${holder}, which saw no sign of life of this one`;
    return new Error(
      `${option} ${reason}. What this run wrote since then is not in it: run the same command again, once no other run writes it.`,
    );
  }
}
