import { notify } from "../call/notify.js";
import type { Client } from "../client.js";
import type { RerankResponse } from "../generated/types.js";
import type { AttemptEvent, CallOptions } from "../options/callOptions.js";
import type { Lane } from "../policy/lane.js";
import type { Limiter } from "../policy/limiter.js";
import { attemptPolicy, type PolicyOption } from "../policy/types.js";
import { jsonBytes } from "../ranking/planBatches.js";
import { memberOf } from "../values.js";
import type { Held } from "./intake.js";
import type { RunSettings } from "./settings.js";

/** The calls of a run. */
export class Calls<Id> {
  readonly #client: Pick<Client, "rerank">;
  readonly #settings: RunSettings<Id>;
  readonly #limiter: Limiter;
  readonly #controller: AbortController = new AbortController();

  constructor(client: Pick<Client, "rerank">, settings: RunSettings<Id>, limiter: Limiter) {
    this.#client = client;
    this.#settings = settings;
    this.#limiter = limiter;
  }

  /** Makes a call. */
  begin(held: Held<Id>, lane: Lane): Promise<RerankResponse> {
    try {
      return this.#client.rerank(held.body, this.#optionsOf(held, lane));
    } catch (error) {
      // A client of the caller's own may throw.
      return Promise.reject(error);
    }
  }

  /** Ends those that are under way. */
  abort(): void {
    this.#controller.abort();
  }

  /** Tells of the attempt that was answered, once the limit is known that follows from it. */
  answered({ event, id }: Held<Id>): void {
    if (event) this.#report(event, id, {});
  }

  #optionsOf(held: Held<Id>, lane: Lane): CallOptions {
    const { headers, timeoutMs, attemptTimeoutMs, onAttempt } = this.#settings;
    const { signal } = this.#controller;
    const options: CallOptions & { [attemptPolicy]: PolicyOption } = {
      signal,
      timeoutMs,
      attemptTimeoutMs,
      [attemptPolicy]: lane,
    };
    if (headers !== undefined) options.headers = headers;
    if (onAttempt)
      options.onAttempt = (event) => {
        if (event.code === undefined) held.event = event;
        else if (!signal.aborted) this.#report(event, held.id, lane);
      };
    return options;
  }

  #report(event: AttemptEvent, id: Id, { holdMs = 0, progress }: Partial<Lane>): void {
    const { onAttempt } = this.#settings;
    const again = progress === "too-many" ? { waitMs: 0 } : {};
    const asked = holdMs > 0 ? { holdMs } : {};
    if (onAttempt) notify(onAttempt, { ...event, ...again, ...asked, id, concurrency: this.#limiter.limit });
  }
}

/** The bytes of a request; 0 for one that cannot be written, which its call refuses. */
export function sizeOf<Id>({ body }: Held<Id>): number {
  try {
    return jsonBytes(body);
  } catch {
    return 0;
  }
}

/** The tokens that an answer says it used. */
export function tokensOf({ usage }: Partial<RerankResponse>): unknown {
  return memberOf(usage, "total_tokens") ?? memberOf(usage, "prompt_tokens");
}
