// What the decision table makes of every row of the conformance data: its expectations, and the README's table.
import { readFileSync } from "node:fs";
import { failureIn } from "../../../src/call/errorResponse.js";
import { endedFailure, networkFailure } from "../../../src/call/noResponse.js";
import { noValue, readObject, readRerank } from "../../../src/call/response.js";
import type { RowResponse, RowStep } from "../../../src/conformance/data.js";
import { Failure } from "../../../src/errors/failure.js";
import { type OperationId, operations } from "../../../src/generated/contract.js";
import { budget, defaultMaxRetries } from "../../../src/policy/decisions.js";
import {
  type Decision,
  decideRetry,
  nothingSent,
  type Ran,
  type RetryCause,
  type RetryState,
  worse,
} from "../../../src/policy/retry.js";
import type {
  Exchange,
  Phase,
  TransportFailure,
  TransportResponse,
} from "../../../src/transport/exchange.js";
import { refusedByProxy } from "../../../src/transport/node/networkErrors.js";
import { readDatasetFile } from "../../../src/wrappers/uploadFile.js";
import type { OperationShape } from "../operations.js";
import { type Expected, type RetryRow, stepOf } from "./exchanges.js";

/** The same row with what the decision table makes of it. */
export function withExpectations(row: RetryRow): RetryRow {
  const { event, description, server, client, message, jitter, once } = row;
  const ids = (Object.keys(operations) as OperationId[]).filter((id) => concerns(row, id));
  const played = ids.map((operation) => play(row, operation));
  const sources = new Set(played.flatMap(({ codeSource }) => codeSource ?? []));
  const [codeSource] = sources;
  if (sources.size > 1)
    throw new Error(`${placeOf(event)}: ${event} has another codeSource for some operations.`);
  const needs = needsOf(row);
  return {
    event,
    description,
    server,
    ...(client && { client }),
    ...(needs.length > 0 && { needs }),
    ...(codeSource && { codeSource }),
    ...(message !== undefined && { message }),
    ...(jitter && { jitter }),
    ...(once && { once }),
    operations: Object.fromEntries(played.map(({ operation, expected }) => [operation, expected])) as Record<
      OperationId,
      Expected
    >,
  };
}

function placeOf(event: string): string {
  const file = "contract/conformance/retries.json";
  const text = readFileSync(new URL(`../../../${file}`, import.meta.url), "utf8");
  return `${file}:${text.slice(0, text.search(new RegExp(`"event": ?"${event}"`))).split("\n").length}`;
}

// How a good response's JSON is read concerns those that respond with JSON.
function concerns({ server }: RetryRow, operation: OperationId): boolean {
  const steps = "sequence" in server ? server.sequence : [server];
  const isGood = (step: RowStep): boolean =>
    "answer" in step && step.answer.status >= 200 && step.answer.status < 300;
  return operations[operation].value === undefined || !steps.some(isGood);
}

interface Played {
  readonly operation: OperationId;
  readonly expected: Expected;
  readonly codeSource: string | undefined;
}

// A row under way: what its client has left, and what its server has seen.
interface Play {
  readonly row: RetryRow;
  readonly operation: OperationId;
  budgetLeft: number;
  made: number;
  seen: number;
  readonly waits: Wait[];
}

interface Ended {
  readonly attempts: number;
  readonly failure?: Failure;
  readonly ran?: Ran;
  readonly notRetried?: string | undefined;
}

function play(row: RetryRow, operation: OperationId): Played {
  const { calls = 1 } = row.client ?? {};
  const state: Play = { row, operation, budgetLeft: fullBudget, made: 0, seen: 0, waits: [] };
  const byCall: number[] = [];
  let ended = playCall(state);
  byCall.push(ended.attempts);
  while (byCall.length < calls) {
    ended = playCall(state);
    byCall.push(ended.attempts);
  }
  const { failure } = ended;
  const expected = {
    requests: state.seen,
    ...(calls === 1 && state.seen !== ended.attempts && { attempts: ended.attempts }),
    ...(calls > 1 && { requestsByCall: byCall }),
    ...(failure === undefined ? { value: true as const } : errorOf(ended, failure)),
    ...boundsOf(state.waits, row.jitter === true),
  };
  return { operation, expected, codeSource: failure?.codeSource };
}

function errorOf({ ran, notRetried }: Ended, failure: Failure): Omit<Expected, "requests"> {
  const { executed, executedBecause } = ran ?? nothingSent;
  return {
    code: failure.code,
    executed,
    executedBecause,
    inferred: failure.inferred ?? true,
    notRetried: failure.notRetried ?? notRetried ?? "refused",
    ...(failure.retryAfterMs !== undefined && { retryAfterMs: failure.retryAfterMs }),
  };
}

function playCall(state: Play): Ended {
  const { row } = state;
  let ran = nothingSent;
  let fresh = row.client?.apiKey === "function";
  for (let retries = 0; ; retries++) {
    const step = stepOf(row, state.made);
    const failure = failureOf(row, step, state.operation);
    if (failure?.requested === false) return { attempts: retries, failure, ran };
    state.made += 1;
    if (isSeen(step)) state.seen += 1;
    if (failure === undefined) {
      state.budgetLeft = Math.min(budget.full, state.budgetLeft + budget.successGain);
      return { attempts: retries + 1 };
    }
    ran = worse(ran, failure);
    const { first, wait } = decideBoth(failure, stateOf(state, { retries, fresh }));
    if (first.notRetried !== undefined) {
      return { attempts: retries + 1, failure, ran, notRetried: first.notRetried };
    }
    if (failure.httpStatus === 401) fresh = false;
    state.budgetLeft -= budget.retryCost;
    if (isSeen(step)) state.waits.push(withStall(wait, row, isStalling(step)));
  }
}

// A server that does not respond measures from the request on.
function withStall({ least, most }: Wait, { client }: RetryRow, stalls: boolean): Wait {
  return { least: stalls ? 0 : least, most: most + (stalls ? (client?.attemptTimeoutMs ?? 0) : 0) };
}

function stateOf(
  { row, operation, budgetLeft }: Play,
  { retries, fresh }: { retries: number; fresh: boolean },
) {
  const { repeatable, maxRetries = defaultMaxRetries, timeoutMs = 30_000 } = row.client ?? {};
  return {
    operation,
    idempotent: repeatable,
    retries,
    maxRetries,
    timeLeftMs: timeoutMs,
    budget: budgetLeft,
    replayable: true,
    freshKey: fresh,
  };
}

// HTTP libraries hide these: fetch makes a lost connection of the first two, and sends a third time what 421 refused.
const hiddenStatuses: ReadonlySet<number> = new Set([101, 407, 421]);

/** The names of what a row needs, besides plain calls with `maxRetries`. README.md says what each means. */
export function needsOf({ client = {}, server }: RetryRow): readonly string[] {
  const steps = "sequence" in server ? server.sequence : [server];
  const named = [
    client.apiKey && "key-function",
    client.repeatable !== undefined && "repeatable",
    client.abort && "abort",
    client.timeoutMs !== undefined && "timeout",
    client.attemptTimeoutMs !== undefined && "attempt-timeout",
    client.connectTimeoutMs !== undefined && "connect-timeout",
    ...steps.flatMap((step) => {
      if ("answer" in step) return hiddenStatuses.has(step.answer.status) && `status-${step.answer.status}`;
      return "network" in step && ofNetwork(step.network);
    }),
  ].filter((name) => typeof name === "string");
  return [...new Set(named)];
}

function ofNetwork(network: string): string | undefined {
  if (/^tls-(certificate-wanted|expired|other-name)$/.test(network)) return "ca-certificate";
  return network.startsWith("tunnel-") ? "proxy" : undefined;
}

// What the client makes of each step of a row: the failure, as the code under src/call says it.

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

// The waits between the requests of a row, as far as a server can measure them.

/** What a loaded machine may add to a wait before it counts as too long, in milliseconds. */
export const slackMs = 5000;

/** The shortest and the longest wait before a request. */
export interface Wait {
  readonly least: number;
  readonly most: number;
}

/** The two ends of what chance decides. */
export function decideBoth(
  failure: RetryCause,
  state: Omit<RetryState, "random">,
): { first: Decision; wait: Wait } {
  const first = decideRetry(failure, { ...state, random: 0 });
  const last = decideRetry(failure, { ...state, random: 1 });
  return { first, wait: { least: first.waitMs ?? 0, most: last.waitMs ?? first.waitMs ?? 0 } };
}

// Of ten waits that are drawn from 0 up to 250 ms, together less than an eighth of the most, or all within a
// tenth of it: each is drawn less than once in ten million runs.
const leastShare = 0.12;
const spreadShare = 0.1;

/** The bounds of a row's waits. @param together Whether they are judged together, too. */
export function boundsOf(waits: readonly Wait[], together: boolean): Readonly<Record<string, number>> {
  if (waits.length === 0) return {};
  const least = Math.min(...waits.map((wait) => wait.least));
  const most = Math.max(...waits.map((wait) => wait.most));
  const total = waits.reduce((sum, wait) => sum + wait.most, 0);
  return {
    ...(least > 0 && { minWaitMs: least }),
    maxWaitMs: most + slackMs,
    ...(together && {
      minTotalWaitMs: Math.round(total * leastShare),
      minSpreadMs: Math.round(most * spreadShare),
    }),
  };
}

/** A client's tokens at its beginning. */
export const fullBudget: number = budget.full;
