import { operations } from "../generated/contract.js";
import {
  isIdempotent,
  isIdempotentKind,
  type NotRetried,
  type StatusCode,
  type StatusErrorDetails,
} from "./codes.js";

// Codes that tell nothing about the cause (UNKNOWN, INTERNAL) have no advice.
const adviceOfCode: Readonly<Partial<Record<StatusCode, string>>> = {
  ABORTED: "Read the state, then call again if the change is still wanted: another came first.",
  ALREADY_EXISTS: "It exists already: use it, or choose another id.",
  CANCELLED: "Call again if the result is still wanted.",
  DATA_LOSS: "Compare what the service holds with what you sent.",
  DEADLINE_EXCEEDED: "Allow more time with timeoutMs, or find out why the service is slow.",
  FAILED_PRECONDITION:
    "Bring the resource into the state required, then call again if the change is still wanted.",
  // The message says what to correct: the service's about the request, the client's about an argument or the key.
  INVALID_ARGUMENT: "",
  NOT_FOUND: "Check the id, the account and the base URL.",
  OUT_OF_RANGE: "Use a value in the allowed range.",
  PERMISSION_DENIED: "The key lacks a permission: use another, or have it granted.",
  RESOURCE_EXHAUSTED: "Wait, or lower the rate or the size of your requests.",
  UNAUTHENTICATED: "Check apiKey or TUNERANK_API_KEY: the service did not accept the key.",
  UNAVAILABLE: "Try again later: the service is down or overloaded.",
  UNIMPLEMENTED: "The server does not offer the operation: check the base URL, or have it enabled.",
};

// Advice for statuses that the service does not send.
const adviceOfOthers: Readonly<Record<number, string | undefined>> = {
  101: "Check that baseUrl is the service itself.",
  511: "This network wants you to sign in first.",
};

// Advice for codes that this client itself chose: the service rejected nothing.
const adviceOfOwn: typeof adviceOfCode = {
  // Only if the source of an upload cannot be read.
  FAILED_PRECONDITION: "Call again with a file that can be read and does not change.",
  // The message says what to correct in the apiKey function.
  UNAUTHENTICATED: "",
  // The response was too large, so the usual advice, to wait, would not help.
  RESOURCE_EXHAUSTED: "Ask for less at once.",
};

// Why a failed call was not retried, as a sentence; empty if the advice already tells the reason.
const reasons: Readonly<Record<NotRetried, string>> = {
  "not-transient": "The call was not retried: it would most likely fail again.",
  "not-safe": "The call was not retried, because running it twice is not safe.",
  "no-retry-after": "The call was not retried, because the service gave no time to wait: call again later.",
  "single-use-body": "The call was not retried, because a stream can be read only once.",
  // In `reasonFor`.
  "retries-used-up": "",
  budget: "The call was not retried, because this client has used up its retries for now.",
  "deadline-too-close": "No time is left for another attempt.",
  "asked-to-wait-too-long": "The call was not retried, because no call waits that long.",
  refused: "",
  aborted: "",
};

/** Joins sentences with spaces; empty ones are left out. */
export function sentences(...sentences: readonly string[]): string {
  return sentences.filter(Boolean).join(" ");
}

/** How long the service asks to wait, and why there was no other attempt; empty if there is nothing to add. */
export function reasonFor({ retryAfterMs, notRetried, attempts }: Partial<StatusErrorDetails>): string {
  const asked = retryAfterMs ? `The service asks to wait ${retryAfterMs / 1000} s.` : "";
  if (notRetried !== "retries-used-up" || !attempts?.length)
    return sentences(asked, notRetried ? reasons[notRetried] : "");
  // After a single attempt, the retries are used up only if `maxRetries` is 0.
  const gaveUp = `Gave up after ${attempts.length} attempts.`;
  return sentences(asked, attempts.length > 1 ? gaveUp : "The call was not retried: maxRetries is 0.");
}

/** What to do now; empty if nothing is known to help, or if it is an own message that tells. */
export function adviceFor(
  details: Pick<StatusErrorDetails, "code" | "executed"> & Partial<StatusErrorDetails>,
): string {
  const { code, codeSource, executed, httpStatus = 0, operation, method, requestId } = details;
  const own = codeSource === "client" ? adviceOfOwn[code] : undefined;
  const report = requestId ? `Report it to whoever runs the service, with the request id ${requestId}.` : "";
  const known = own ?? adviceOfOthers[httpStatus] ?? adviceOfCode[code] ?? report;
  if (executed === "no" || operation === undefined) return known;
  if (method === "DELETE" && code === "NOT_FOUND")
    return "An earlier attempt of this call may have deleted it.";
  if (operation === "request" && !isIdempotent(method))
    return "It may have run: check what it changes before you call again.";
  if (operation !== "request" && !isIdempotentKind[operations[operation].kind])
    return operations[operation].whenUnknown as string;
  // Each run is paid for.
  if (executed === "yes") return known;
  return `${known} A retry of this call is safe.`.trimStart();
}
