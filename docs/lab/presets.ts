// What the lab lets go wrong: data, and the row of contract/conformance/retries.json that each must agree with.
import type { CallOptions } from "tunerank";
import type { ScriptedFailure } from "tunerank/testing";

/** One position of the lab's switch. */
export interface Preset {
  readonly id: string;
  readonly label: string;
  /** The `event` of its row, where something fails. */
  readonly row?: string;
  /** What becomes of a request. */
  readonly failure?: ScriptedFailure;
  /** What the call is given besides. */
  readonly options?: CallOptions;
}

export const presets: readonly Preset[] = [
  { id: "nothing", label: "nothing" },
  {
    id: "proxy-503",
    label: "503 of a proxy",
    row: "status-503",
    failure: {
      status: 503,
      headers: { "content-type": "text/plain" },
      body: "upstream connect error or disconnect/reset before headers",
    },
  },
  {
    id: "unavailable",
    label: "UNAVAILABLE, named",
    row: "unavailable-named",
    failure: { code: "UNAVAILABLE", message: "Busy." },
  },
  {
    id: "retry-after",
    label: "429 with Retry-After",
    row: "status-429-retry-after",
    failure: { status: 429, retryAfter: 1 },
  },
  { id: "no-retry-after", label: "429 without", row: "status-429", failure: { status: 429 } },
  {
    id: "lost",
    label: "connection lost before the answer",
    row: "reset-before-headers",
    failure: { reset: true },
  },
  { id: "cut", label: "answer cut short", row: "body-truncated", failure: { truncate: true } },
  {
    id: "stall",
    label: "no answer within attemptTimeoutMs",
    row: "attempt-timeout",
    failure: { stall: true },
    options: { attemptTimeoutMs: 1000 },
  },
  {
    id: "fresh-key",
    label: "401, with a fresh key each time",
    row: "status-401-fresh-key",
    failure: { status: 401 },
  },
  {
    id: "deadline",
    label: "no answer within timeoutMs",
    row: "deadline",
    failure: { stall: true },
    options: { timeoutMs: 1000, attemptTimeoutMs: 1000 },
  },
];
