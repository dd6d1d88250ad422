// What the client makes of each step of a row: the failure, as the code under src/call says it.
import { failureIn } from "../../../src/call/errorResponse.js";
import { endedFailure, networkFailure } from "../../../src/call/noResponse.js";
import { noValue, readObject, readRerank } from "../../../src/call/response.js";
import type { RowResponse, RowStep } from "../../../src/conformance/data.js";
import { Failure } from "../../../src/errors/failure.js";
import type { OperationId } from "../../../src/generated/contract.js";
import type {
  Exchange,
  Phase,
  TransportFailure,
  TransportResponse,
} from "../../../src/transport/exchange.js";
import { refusedByProxy } from "../../../src/transport/node/networkErrors.js";
import { readDatasetFile } from "../../../src/wrappers/uploadFile.js";
import type { OperationShape } from "../operations.js";
import type { RetryRow } from "./rows.js";

/** How the transport tells of a fault of the network; `seen` is whether the server saw a request. */
export interface Fault {
  readonly phase: Phase;
  readonly reason?: TransportFailure["reason"];
  readonly code?: string;
  readonly status?: number;
  readonly seen: boolean;
}

/** Every fault of the network that rows name. */
export const faults: Readonly<Record<string, Fault>> = {
  refused: { phase: "connect", code: "ECONNREFUSED", seen: false },
  "name-not-found": { phase: "connect", code: "ENOTFOUND", seen: false },
  "name-server-busy": { phase: "connect", code: "EAI_AGAIN", seen: false },
  "connect-stalls": { phase: "connect", reason: "connect-timeout", seen: false },
  "tls-untrusted": { phase: "connect", code: "DEPTH_ZERO_SELF_SIGNED_CERT", seen: false },
  "tls-expired": { phase: "connect", code: "CERT_HAS_EXPIRED", seen: false },
  "tls-other-name": { phase: "connect", code: "ERR_TLS_CERT_ALTNAME_INVALID", seen: false },
  "tls-not-spoken": { phase: "connect", code: "EPROTO", seen: false },
  "tls-closed": { phase: "connect", code: "ECONNRESET", seen: false },
  "tls-certificate-wanted": {
    phase: "connect",
    code: "ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED",
    seen: false,
  },
  "tunnel-failed": { phase: "connect", reason: "proxy", status: 503, seen: false },
  "tunnel-refused": { phase: "connect", reason: "proxy", status: 403, seen: false },
  "tunnel-credentials": { phase: "connect", reason: "proxy", status: 407, seen: false },
  "reset-before-headers": { phase: "headers", code: "ECONNRESET", seen: true },
  "close-before-headers": { phase: "headers", code: "ECONNRESET", seen: true },
  silence: { phase: "headers", reason: "attempt-timeout", seen: true },
  "body-truncated": { phase: "body", seen: true },
  "body-chunk-cut": { phase: "body", seen: true },
  "body-reset": { phase: "body", seen: true },
  "body-bad-gzip": { phase: "body", seen: true },
  "body-stalls": { phase: "body", reason: "attempt-timeout", seen: true },
  "body-endless": { phase: "body", reason: "too-large", seen: true },
};

/** Whether a server sees the requests of a step. */
export function isSeen(step: RowStep): boolean {
  return !("network" in step) || faultOf(step.network).seen;
}

/** Whether a step leaves the client waiting for the end of its attempt. */
export function isStalling(step: RowStep): boolean {
  return "network" in step && faultOf(step.network).reason === "attempt-timeout";
}

/** The failure of a step for an operation; undefined where it is a good response. */
export function failureOf(row: RetryRow, step: RowStep, operation: OperationId): Failure | undefined {
  if ("success" in step) return undefined;
  return "answer" in step
    ? failureOfResponse(operation, step.answer)
    : failureOfFault(row, faultOf(step.network));
}

interface Reader {
  readonly read: (response: object) => object;
  readonly needs: string;
}

// How each operation's JSON object is read; of the others nothing is needed.
const readers: Readonly<Partial<Record<OperationId, Reader>>> = {
  rerankDocuments: {
    read: readRerank,
    needs: "`data`: a list of objects, each with an integer `index` and a finite `relevance_score`",
  },
  uploadDatasetFile: { read: readDatasetFile, needs: "`id`: a string, also an empty one" },
};

/** README.md of the conformance data, with what each operation's JSON object needs. */
export function withNeeds(readme: string, shapes: readonly OperationShape[]): string {
  const rows = shapes
    .filter(({ response }) => response.kind === "json")
    .map(({ id }) => [
      `\`${id}\``,
      readers[id as OperationId]?.needs ?? "nothing: every member may be absent",
    ]);
  const lines = [["operation", "needed"], ["---", "---"], ...rows].map((cells) => `| ${cells.join(" | ")} |`);
  const [begin, end] = ["<!-- begin: needed -->", "<!-- end: needed -->"];
  const [before, rest = ""] = readme.split(begin);
  const [, after] = rest.split(end);
  if (after === undefined) throw new Error(`contract/conformance/README.md has lost ${begin} or ${end}.`);
  return `${before}${begin}\n${lines.join("\n")}\n${end}${after}`;
}

function faultOf(network: string): Fault {
  const fault = faults[network];
  if (fault === undefined) throw new Error(`${network} is a fault of the network that is not known here.`);
  return fault;
}

function failureOfResponse(operation: OperationId, row: RowResponse): Failure | undefined {
  const { status, headers = {}, body, text = body === undefined ? "" : JSON.stringify(body) } = row;
  const ok = status >= 200 && status < 300;
  const response = { status, ok, headers, text } as Partial<TransportResponse> as TransportResponse;
  const value = readObject(readers[operation]?.read ?? ((object) => object))(response);
  const isValue = value !== noValue && !(value instanceof Failure);
  return isValue ? undefined : failureIn(response, (text) => text, value, operation);
}

function failureOfFault({ client }: RetryRow, fault: Fault): Failure {
  const status = fault.phase === "body" ? 200 : fault.status;
  const response = status === undefined ? undefined : { status, headers: {} };
  const exchange = { phase: fault.phase, response } as Exchange;
  if (client?.abort) {
    return endedFailure("aborted", 0, client.abort === "before" ? undefined : exchange, undefined);
  }
  const { timeoutMs, attemptTimeoutMs } = client ?? {};
  if (timeoutMs !== undefined && timeoutMs === attemptTimeoutMs) {
    return endedFailure("deadline", timeoutMs, exchange, undefined);
  }
  return networkFailure(transportFailure(fault), (text) => text);
}

/** What the transport rejects with for a fault. */
export function transportFailure({ phase, reason = "network", code, status }: Fault): TransportFailure {
  const cause = code ? Object.assign(new Error(code), { code }) : undefined;
  const began = phase === "body" ? 200 : status;
  const byProxy = reason === "proxy" && status !== undefined ? refusedByProxy(status)[1] : undefined;
  return { message: "The network failed.", phase, reason, status: began, cause, ...byProxy };
}
