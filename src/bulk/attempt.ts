import { notify } from "../call/notify.js";
import type { Client } from "../client.js";
import type { RerankResponse } from "../generated/types.js";
import type { AttemptEvent, CallOptions } from "../options/callOptions.js";
import type { Held } from "./held.js";
import type { RunSettings } from "./options.js";

/** The attempts of a run. */
export class Attempts<Id> {
  readonly #client: Pick<Client, "rerank">;
  readonly #settings: RunSettings<Id>;
  readonly #controller: AbortController = new AbortController();
  readonly #firstOptions: CallOptions;

  constructor(client: Pick<Client, "rerank">, settings: RunSettings<Id>) {
    this.#client = client;
    this.#settings = settings;
    this.#firstOptions = this.#optionsOf(settings.timeoutMs);
  }

  /** Sends a request. */
  begin(held: Held<Id>, now: number): Promise<RerankResponse> {
    try {
      return this.#client.rerank(held.body, this.#optionsFor(held, now));
    } catch (error) {
      // A client of the caller's own may throw.
      return Promise.reject(error);
    }
  }

  /** Ends those that are under way. */
  abort(): void {
    this.#controller.abort();
  }

  #optionsFor(held: Held<Id>, now: number): CallOptions {
    const { timeoutMs, onAttempt } = this.#settings;
    const leftMs = held.endsAt - now;
    // Most requests need one attempt: its options are the same for all.
    if (leftMs >= timeoutMs && onAttempt === undefined) return this.#firstOptions;
    const options = this.#optionsOf(leftMs < 1 ? leftMs : Math.floor(leftMs));
    if (onAttempt)
      options.onAttempt = (event) => {
        held.event = event;
      };
    return options;
  }

  #optionsOf(timeoutMs: number): CallOptions {
    const { headers, attemptTimeoutMs } = this.#settings;
    const { signal } = this.#controller;
    const options: CallOptions = { signal, timeoutMs, attemptTimeoutMs, maxRetries: 0 };
    if (headers !== undefined) options.headers = headers;
    return options;
  }
}

/** What follows from a request's last attempt. */
export interface Consequence {
  /** Milliseconds until its next; undefined when there is none. */
  readonly waitMs?: number | undefined;
  /** Milliseconds in which the service asks all requests to wait; 0 for none. */
  readonly holdMs?: number;
  /** How many may be under way from now on. */
  readonly concurrency: number;
}

/** Tells the caller of a request's last attempt. */
export function report<Id>(
  { onAttempt }: RunSettings<Id>,
  { event, id, attempts }: Held<Id>,
  { waitMs, holdMs = 0, concurrency }: Consequence,
): void {
  if (onAttempt === undefined || event === undefined) return;
  const number = attempts.length + (event.code === undefined ? 1 : 0);
  const wait: Partial<AttemptEvent> = waitMs === undefined ? {} : { waitMs };
  const asked = holdMs > 0 ? { holdMs } : {};
  notify(onAttempt, { ...event, ...wait, ...asked, number, id, concurrency });
}
