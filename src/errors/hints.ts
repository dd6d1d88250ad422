import { operations } from "../generated/contract.js";
import { ownValue } from "../values.js";
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

// Advice for codes that this client itself chose: the service rejected nothing.
const adviceOfOwn: typeof adviceOfCode = {
  // Only if the source of an upload cannot be read.
  FAILED_PRECONDITION: "Call again with a file that can be read and does not change.",
  // The message says what to correct in the apiKey function.
  UNAUTHENTICATED: "",
  // The response was too large, so the usual advice, to wait, would not help.
  RESOURCE_EXHAUSTED: "Ask for less at once.",
};

// Advice for HTTP statuses that tell more than the code they map to. A key is a status, or a status and an operation.
const adviceOfStatus: Readonly<Record<string, string | undefined>> = {
  101: "Check that baseUrl is the service itself.",
  402: "Check the account's billing.",
  406: "Check that baseUrl is the service itself.",
  407: "The proxy needs its own user name and password, in its URL or agent, not the API key.",
  410: "It is gone: use another id.",
  411: "The size is needed first: pass size, or a path, a Blob or bytes.",
  413: "Send a smaller request.",
  "413 rerankDocuments": "Send fewer documents at once (rerank.items with batchSize).",
  "413 uploadDatasetFile":
    "Send a smaller file: larger ones need another operation of the service, which this client does not have.",
  414: "Use a shorter id or base URL.",
  415: "Check baseUrl, and the media type of the file.",
  417: "A proxy cannot do what the request expects: leave out your own headers.",
  421: "This server does not serve this host: check baseUrl and the proxies.",
  424: "Another operation that this one depends on failed: fix that first.",
  426: "Wrong protocol: check scheme and port of baseUrl.",
  428: "The server needs a condition, such as an If-Match header.",
  431: "Send fewer or shorter headers, or a shorter key.",
  451: "Rejected for legal reasons: ask the operator.",
  511: "This network wants you to sign in first.",
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
  const ofStatus =
    ownValue(adviceOfStatus, `${httpStatus} ${operation}`) ?? ownValue(adviceOfStatus, `${httpStatus}`);
  const own = codeSource === "client" ? adviceOfOwn[code] : undefined;
  const report = requestId ? `Report it to whoever runs the service, with the request id ${requestId}.` : "";
  const known = own ?? ofStatus ?? adviceOfCode[code] ?? report;
  if (executed === "no" || operation === undefined) return known;
  if (method === "DELETE" && code === "NOT_FOUND")
    return "An earlier attempt of this call may have deleted it.";
  if (operation === "request" && !isIdempotent(method))
    return "It may have run: check what it changes before you call again.";
  if (operation !== "request" && !isIdempotentKind[operations[operation].kind])
    return operations[operation].whenUnknown as string;
  return `${known} A retry of this call is safe.`.trimStart();
}
