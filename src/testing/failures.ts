import { invalid, refusal } from "../errors/statusError.js";
import { httpStatuses, meanings, type OperationId } from "../generated/contract.js";
import type { Code } from "../generated/types.js";
import { checkDuration, checkFlag, checkInteger, ownProperties } from "../options/arguments.js";
import type { Names } from "../options/validate.js";
import { jsonAnswer, type StandInAnswer } from "./standInAnswer.js";
import type { ScriptedFailure } from "./types.js";

/** What becomes of one request. */
export interface Script {
  readonly kind: "answer" | "reset" | "stall" | "truncate" | "late";
  /** The answer of the kind `answer`. */
  readonly answer: StandInAnswer | undefined;
  readonly delayMs: number;
  readonly executes: boolean;
}

/** The scripts of one service, used up in the order they were made. */
export class Failures {
  readonly #queues: Map<OperationId, { script: Script; left: number }[]> = new Map();

  /** @throws StatusError for a script that means nothing. */
  add(operation: OperationId, failure: ScriptedFailure): void {
    // A misspelt name would silently script nothing.
    const own = ownProperties(failure, "failure", names);
    const { times = 1 } = own;
    const left = times === Number.POSITIVE_INFINITY ? times : checkInteger(times, "times", 1);
    const queue = this.#queues.get(operation) ?? [];
    this.#queues.set(operation, [...queue, { script: scriptOf(own), left }]);
  }

  /** The next script of an operation, if there is one. */
  take(operation: OperationId): Script | undefined {
    const [first, ...others] = this.#queues.get(operation) ?? [];
    if (first === undefined) return undefined;
    first.left--;
    if (first.left === 0) this.#queues.set(operation, others);
    return first.script;
  }

  clear(): void {
    this.#queues.clear();
  }
}

const names: Names<ScriptedFailure> = {
  times: 1,
  status: 1,
  code: 1,
  message: 1,
  retryAfter: 1,
  headers: 1,
  body: 1,
  reset: 1,
  stall: 1,
  truncate: 1,
  delayMs: 1,
  executes: 1,
};

function scriptOf(failure: ScriptedFailure): Script {
  const kinds = (["reset", "stall", "truncate"] as const).filter((kind) => checkFlag(failure[kind], kind));
  const answer =
    failure.status === undefined && failure.code === undefined ? undefined : scriptedAnswer(failure);
  const { delayMs } = failure;
  const wait = delayMs === undefined ? 0 : checkDuration(delayMs, "delayMs");
  if (kinds.length + (answer ? 1 : 0) > 1) {
    throw invalid("failure takes one of status (or code), reset, stall and truncate.");
  }
  const kind = answer ? "answer" : (kinds[0] ?? (wait > 0 ? "late" : undefined));
  if (kind === undefined) {
    throw invalid("failure needs status, code, reset, stall, truncate or delayMs.");
  }
  const always = kind === "truncate" || kind === "late";
  return { kind, answer, delayMs: wait, executes: always || checkFlag(failure.executes, "executes") };
}

function scriptedAnswer({
  status,
  code,
  message,
  retryAfter,
  headers,
  body,
}: ScriptedFailure): StandInAnswer {
  if (code !== undefined && ((code as Code) === "OK" || !Object.hasOwn(httpStatuses, code))) {
    throw invalid("code must be one of the service's 16 failure codes.");
  }
  const httpStatus = checkInteger(status ?? httpStatuses[code as Code], "status", 200);
  if (httpStatus > 599) throw refusal("OUT_OF_RANGE", `status must be at most 599, not ${httpStatus}.`);
  const text = message ?? (code === undefined ? "A scripted failure." : meanings[code]);
  const answer = jsonAnswer(body ?? { ...(code !== undefined && { code }), message: text }, httpStatus);
  const wait = retryAfter === undefined ? undefined : checkInteger(retryAfter, "retryAfter", 0);
  return {
    status: httpStatus,
    headers: {
      ...answer.headers,
      ...(wait !== undefined && { "retry-after": `${wait}` }),
      ...lowerCased(headers),
    },
    body: typeof body === "string" ? body : answer.body,
  };
}

function lowerCased(headers: ScriptedFailure["headers"]): Record<string, string> {
  const own = Object.entries(ownProperties(headers, "headers"));
  return Object.fromEntries(own.map(([name, value]) => [name.toLowerCase(), String(value)]));
}
