import { listen, unlisten } from "../call/deadline.js";
import { type Decision, nothingSent, type Ran, worse } from "../call/retry.js";
import type { Client } from "../client.js";
import type { NotRetried } from "../errors/codes.js";
import type { StatusError } from "../errors/statusError.js";
import { Attempts, report } from "./attempt.js";
import { decide, holdAskedBy } from "./decision.js";
import { Delivery, type Failed } from "./delivery.js";
import {
  asStatusError,
  endedAs,
  endedBy,
  endedByHold,
  endsRun,
  type Progress,
  ranWell,
  underWay,
} from "./ended.js";
import { errorOf, type Held, noteFailure, noteRetry } from "./held.js";
import { Intake } from "./intake.js";
import { Limiter } from "./limiter.js";
import type { RerankAllRequest, RerankAllResult, RunSettings } from "./options.js";
import { asTheyCome, inOrder } from "./outbox.js";
import type { Source } from "./source.js";
import { Timer } from "./timer.js";

// Those under way, those that wait for another attempt, and results that nobody has asked for.
const heldForEach = 4;

/** A run over many requests: what is taken from the source, sent, tried again and handed out, within fixed bounds. */
export class Run<Id> {
  readonly #settings: RunSettings<Id>;
  readonly #limiter: Limiter;
  readonly #intake: Intake<Id>;
  readonly #delivery: Delivery<RerankAllResult<Id>>;
  readonly #attempts: Attempts<Id>;
  readonly #wake: Timer = new Timer(() => this.#advance());
  readonly #lastly: Timer = new Timer(() => this.end("deadline"));
  #state: "new" | "running" | "over" = "new";
  #isAdvancing = false;
  // The service asks to wait for too long: what is under way is waited for, and nothing else is sent.
  #heldBy: StatusError | undefined;
  #settled = 0;
  #ran: Ran = nothingSent;

  constructor(
    client: Pick<Client, "rerank">,
    source: Source<RerankAllRequest<Id>>,
    settings: RunSettings<Id>,
  ) {
    this.#settings = settings;
    this.#limiter = new Limiter(settings.concurrency);
    this.#intake = new Intake(source, () => this.#advance());
    this.#delivery = new Delivery(settings.ordered ? inOrder() : asTheyCome());
    this.#attempts = new Attempts(client, settings);
  }

  next(): Promise<IteratorResult<RerankAllResult<Id>, undefined>> {
    if (this.#state === "new") this.#start();
    const next = this.#delivery.next();
    this.#advance();
    return next;
  }

  /** Ends the run: what is under way is aborted, and the source closed. */
  async close(): Promise<void> {
    const closed = this.#state === "over" ? undefined : this.#stop(undefined);
    this.#delivery.discard();
    await closed;
  }

  #start(): void {
    const { signal, totalTimeoutMs } = this.#settings;
    this.#state = "running";
    if (totalTimeoutMs !== undefined) this.#lastly.set(totalTimeoutMs);
    if (signal?.aborted) this.end("aborted");
    else if (signal) listen(signal, this);
  }

  // Sends what may be sent, and sets the timer for what waits.
  #advance(): void {
    // A source may ask for a result while it is asked for a request.
    if (this.#isAdvancing || this.#state !== "running") return;
    if (this.#heldBy !== undefined) {
      if (this.#limiter.inFlight === 0)
        this.#end(endedByHold(this.#heldBy, this.#settings.maxHoldMs, this.#progress()));
      return;
    }
    this.#isAdvancing = true;
    const now = performance.now();
    for (const held of this.#intake.takeLate(now))
      this.#fail(held, held.error as StatusError, "deadline-too-close");
    while (this.#state === "running" && this.#limiter.isOpen(now)) {
      const held = this.#intake.next(now, this.#hasRoom);
      if (held === undefined) break;
      if (held.wrong) this.#settle(held, { id: held.id, error: held.wrong });
      else this.#send(held, now);
    }
    this.#isAdvancing = false;
    const { isDry, held, failed } = this.#intake;
    if (isDry && held.size === 0) void this.#stop(failed);
    this.#sleep(now);
  }

  get #hasRoom(): boolean {
    const { limit } = this.#limiter;
    const finished = this.#delivery.size;
    if (!this.#settings.ordered && finished >= limit) return false;
    return this.#intake.held.size + finished < heldForEach * limit;
  }

  #sleep(now: number): void {
    this.#wake.clear();
    if (this.#state !== "running") return;
    const at = this.#intake.wakesAt(now, this.#limiter.heldUntil);
    if (at > now && at < Infinity) this.#wake.set(at - now);
  }

  #send(held: Held<Id>, now: number): void {
    const { timeoutMs } = this.#settings;
    held.endsAt = Math.min(held.endsAt, now + timeoutMs);
    const epoch = this.#limiter.begin();
    this.#attempts.begin(held, now).then(
      (response) => {
        this.#limiter.answered(epoch);
        this.#ran = ranWell;
        report(this.#settings, held, { concurrency: this.#limiter.limit });
        this.#settle(held, { id: held.id, response });
      },
      (error) => this.#failed(held, asStatusError(error), epoch),
    );
  }

  #failed(held: Held<Id>, error: StatusError, epoch: number): void {
    if (this.#state === "over") return;
    const now = performance.now();
    const { maxHoldMs } = this.#settings;
    noteFailure(held, error);
    this.#ran = worse(this.#ran, error);
    const decision = decide({ error, held, now, maxHoldMs, random: Math.random() });
    const wasTooMany = this.#limiter.failed(error, decision, { epoch, now });
    const { waitMs } = decision;
    report(this.#settings, held, { waitMs, holdMs: holdAskedBy(error), concurrency: this.#limiter.limit });
    if (waitMs === undefined) this.#giveUp(held, error, decision);
    else {
      noteRetry(held, error, now + waitMs, wasTooMany);
      this.#intake.putBack(held);
    }
    this.#advance();
  }

  #giveUp(held: Held<Id>, error: StatusError, { notRetried }: Decision): void {
    if (notRetried === "asked-to-wait-too-long") {
      const longest = this.#heldBy?.retryAfterMs ?? 0;
      if ((error.retryAfterMs ?? 0) > longest) this.#heldBy = errorOf(held, error, notRetried);
    } else if (endsRun(error, held.body)) {
      this.#end(endedBy(errorOf(held, error, notRetried ?? "refused"), this.#progress()));
    } else this.#fail(held, error, notRetried ?? "not-transient");
  }

  #fail(held: Held<Id>, error: StatusError, notRetried: NotRetried): void {
    this.#settle(held, { id: held.id, error: errorOf(held, error, notRetried) });
  }

  #settle(held: Held<Id>, result: RerankAllResult<Id>): void {
    if (this.#state === "over") return;
    this.#intake.held.delete(held);
    this.#settled += 1;
    this.#delivery.add(held.number, result);
    this.#advance();
  }

  #progress(): Progress<Id> {
    const notDone = [...this.#intake.held].map(({ id }) => id);
    const ran = this.#limiter.inFlight > 0 ? worse(this.#ran, underWay) : this.#ran;
    return { done: this.#settled, notDone, ran };
  }

  /** Ends the run for a reason that is none of its requests'. */
  end(reason: "aborted" | "deadline"): void {
    const { signal, totalTimeoutMs } = this.#settings;
    this.#end(endedAs(reason, { cause: signal?.reason, totalTimeoutMs }, this.#progress()));
  }

  #end(error: unknown): void {
    if (this.#state === "running") this.#stop({ error }).catch(() => {});
  }

  // Rejects when the source does not let itself be closed.
  #stop(failed: Failed | undefined): Promise<void> {
    this.#state = "over";
    this.#wake.clear();
    this.#lastly.clear();
    const { signal } = this.#settings;
    if (signal) unlisten(signal, this);
    this.#attempts.abort();
    this.#delivery.finish(failed);
    return this.#intake.close();
  }
}
