import { notify } from "../call/notify.js";
import type { AttemptEvent, CallOptions } from "../options/callOptions.js";
import type { Held } from "./held.js";
import type { RunSettings } from "./options.js";

/** What one attempt of a request is called with. @param held Whose event is kept, when somebody listens */
export function callOptionsOf<Id>(
  { headers, attemptTimeoutMs, onAttempt }: RunSettings<Id>,
  signal: AbortSignal,
  timeoutMs: number,
  held?: Held<Id>,
): CallOptions {
  const options: CallOptions = { signal, timeoutMs, attemptTimeoutMs, maxRetries: 0 };
  if (headers !== undefined) options.headers = headers;
  if (held && onAttempt)
    options.onAttempt = (event) => {
      held.event = event;
    };
  return options;
}

/** Tells the caller of a request's last attempt. @param concurrency How many may be under way from now on */
export function report<Id>(
  { onAttempt }: RunSettings<Id>,
  { event, id, attempts }: Held<Id>,
  waitMs: number | undefined,
  concurrency: number,
): void {
  if (onAttempt === undefined || event === undefined) return;
  const number = attempts.length + (event.code === undefined ? 1 : 0);
  const wait: Partial<AttemptEvent> = waitMs === undefined ? {} : { waitMs };
  notify(onAttempt, { ...event, ...wait, number, id, concurrency });
}
