import type { OperationId } from "../generated/contract.js";
import { operations } from "../generated/contract.js";
import type { Executed, NotRetried, StatusCode } from "./codes.js";

/** What a hint is written from. */
interface Situation {
  readonly code: StatusCode;
  readonly executed: Executed;
  readonly httpStatus?: number | undefined;
  readonly operation?: OperationId | undefined;
  readonly notRetried?: NotRetried | undefined;
  readonly retryAfterMs?: number | undefined;
}

const adviceOfCode: Readonly<Record<StatusCode, string>> = {
  ABORTED: "Another change ran at the same time: read the current state, then decide whether to repeat.",
  ALREADY_EXISTS: "It exists already: use it, or choose another id.",
  CANCELLED: "The call was cancelled.",
  DATA_LOSS: "Do not repeat blindly: compare what the service holds with what you sent.",
  DEADLINE_EXCEEDED: "Allow more time with timeoutMs, or find out why the service is slow.",
  FAILED_PRECONDITION:
    "Bring the resource into the state required, then call again; repeating alone cannot help.",
  INTERNAL: "The fault is the service's: report it with the request id.",
  INVALID_ARGUMENT: "Correct the argument named in the message; the same call will fail again.",
  NOT_FOUND: "Check the id, the account and the base URL.",
  OUT_OF_RANGE: "Use a value within the range named in the message.",
  PERMISSION_DENIED: "The key is valid but lacks this permission: use another key or have it granted.",
  RESOURCE_EXHAUSTED: "Wait, or lower the rate or the size of your requests.",
  UNAUTHENTICATED: "Check apiKey or TUNERANK_API_KEY: the service did not accept the key.",
  UNAVAILABLE: "The service could not be reached or is overloaded: try again later with growing pauses.",
  UNIMPLEMENTED: "This server does not offer the operation: check the base URL, or have it enabled.",
  UNKNOWN: "The service gave no reason: report it with the request id.",
};

// Where the status says more than the code it stands for.
const adviceOfStatus: Readonly<Record<number, string>> = {
  101: "Check that baseUrl is the service itself: something else answers.",
  402: "The account has to be paid for, or its billing put in order.",
  406: "Something else than the service may answer: check baseUrl.",
  407: "A proxy on the way wants a user name and password: give it its own, in its URL or agent; it does not want the API key.",
  410: "It was there once and is gone: use another id.",
  411: "The server or a proxy wants to know the size before the file: pass size, or a path, a Blob or bytes.",
  413: "Send fewer or shorter documents at once (batchSize), or a smaller file; larger files use the service's upload-endpoint operation.",
  414: "Use a shorter id or base URL.",
  415: "The server does not take this kind of content: check baseUrl, and the media type of a file.",
  417: "A proxy on the way cannot do what the request expects: leave out headers of your own.",
  421: "This server is not the one for this host: check baseUrl and the proxies on the way.",
  424: "Another operation that this one depends on failed: put that right first.",
  426: "The server wants another protocol: check that baseUrl begins with https and has the right port.",
  428: "The server wants the request to carry a condition, such as an If-Match header.",
  431: "Send fewer or shorter headers, or a shorter key.",
  451: "Refused for legal reasons, which no other call changes: ask the service's operator.",
  511: "This network wants you to sign in first, often on a web page.",
};

const unsettled: Readonly<Partial<Record<OperationId, string>>> = {
  resumeReinforcementFineTuningJob:
    "The job may have been resumed: look at it through the service's other operations before repeating.",
  uploadDatasetFile:
    "The file may have been stored: look at the dataset through the service's other operations before repeating.",
};

// Empty where the advice says it.
const reasons: Readonly<Record<NotRetried, string>> = {
  "not-transient": "",
  "not-safe": "It was not retried, because running it twice is not safe.",
  "single-use-body":
    "It was not retried, because a stream can be read only once; a path, a Blob or bytes can be sent again.",
  "retries-used-up": "The retries that maxRetries and this kind of failure allow are used up.",
  budget: "It was not retried, because this client has used up its retries for now.",
  "deadline-too-close": "No time is left for another attempt.",
  "asked-to-wait-too-long": "It was not retried, because no call waits longer than 60 s.",
  refused: "",
  aborted: "",
};

/** What to do now, and why there was no other attempt. */
export function wholeHint(
  { retryAfterMs, notRetried }: Pick<Situation, "retryAfterMs" | "notRetried">,
  advice: string,
): string {
  const asked = retryAfterMs ? `The service asks to wait ${retryAfterMs / 1000} s.` : "";
  return [advice, asked, notRetried ? reasons[notRetried] : ""].filter(Boolean).join(" ");
}

/** What to do now. */
export function hintFor({ code, executed, httpStatus = 0, operation }: Situation): string {
  const advice = Object.hasOwn(adviceOfStatus, httpStatus) ? adviceOfStatus[httpStatus] : undefined;
  const known = advice ?? adviceOfCode[code];
  if (executed === "no" || operation === undefined) return known;
  if (Object.hasOwn(unsettled, operation)) return unsettled[operation] as string;
  return operations[operation].retrySafe ? `${known} Repeating this call is safe.` : known;
}
