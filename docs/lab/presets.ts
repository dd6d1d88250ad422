// What the lab lets go wrong: data, and the row of contract/conformance/retries.json that each must agree with.
import type { CallOptions } from "tunerank";
import type { ScriptedFailure } from "tunerank/testing";

/** One position of the lab's switch. */
export interface Preset {
  readonly id: string;
  /** What happened, in words of the one it happened to. */
  readonly label: string;
  /** What the test service does. */
  readonly behind: string;
  /** The `event` of its row, where something fails. */
  readonly row?: string;
  /** What becomes of a request. */
  readonly failure?: ScriptedFailure;
  /** What the client's call is given besides. */
  readonly options?: CallOptions;
}

export const presets: readonly Preset[] = [
  {
    id: "lost",
    label: "The connection broke before the response",
    behind: "The service does the work, then the connection is reset.",
    row: "reset-before-headers",
    failure: { reset: true, executes: true },
  },
  {
    id: "proxy-503",
    label: "A proxy said 503",
    behind: "The service does the work, but a proxy in front of it gives up and responds with 503.",
    row: "status-503",
    failure: {
      status: 503,
      headers: { "content-type": "text/plain" },
      body: "upstream connect error or disconnect/reset before headers",
      executes: true,
    },
  },
  {
    id: "stall",
    label: "No response within a second",
    behind: "The service does the work, and never responds. Both sides wait a second for each attempt.",
    row: "attempt-timeout",
    failure: { stall: true, executes: true },
    options: { attemptTimeoutMs: 1000 },
  },
  {
    id: "retry-after",
    label: "Too many requests",
    behind: "The service refuses with 429 and asks to wait one second.",
    row: "status-429-retry-after",
    failure: { status: 429, retryAfter: 1 },
  },
  {
    id: "unavailable",
    label: "The service is busy and says so",
    behind: "The service does nothing, and responds with 503 and the code UNAVAILABLE in the body.",
    row: "unavailable-named",
    failure: { code: "UNAVAILABLE", message: "Busy." },
  },
  {
    id: "cut",
    label: "The response was cut short",
    behind: "The service does the work, and the connection breaks in the middle of its response.",
    row: "body-truncated",
    failure: { truncate: true },
  },
  { id: "nothing", label: "Nothing goes wrong", behind: "The service responds." },
];
