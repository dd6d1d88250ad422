import { longestTimerMs } from "../options/arguments.js";
import { type Answer, jsonAnswer, Refusal } from "./answer.js";
import type { Failures, Script } from "./failures.js";
import type { Kept } from "./kept.js";
import type { RunOperation } from "./operations/operation.js";
import { rerank } from "./operations/rerank.js";
import { resume } from "./operations/resume.js";
import { scale } from "./operations/scale.js";
import { upload } from "./operations/upload.js";
import { type Content, type Incoming, readContent } from "./receive.js";
import { decodeId, type Route, routeOf } from "./route.js";
import type { State } from "./state.js";
import type { TestOperation } from "./types.js";

/** What one service consists of. */
export interface Parts {
  readonly apiKey: string | undefined;
  readonly state: State;
  /** Whether unknown fields are refused. */
  readonly strict: boolean;
  readonly failures: Failures;
  readonly requests: Kept;
}

/** What to do with a request: answer it whole, or not quite. */
export interface Reply {
  readonly kind: "answer" | "reset" | "stall" | "truncate";
  readonly answer: Answer;
}

const operations: Readonly<Record<TestOperation, RunOperation<never>>> = { resume, rerank, scale, upload };

/** Takes one request, whichever way it came. */
export async function handle(parts: Parts, incoming: Incoming): Promise<Reply> {
  const { method, path, headers, signal } = incoming;
  const route = routeOf(method, path);
  const { refusal, ...content } = route ? await readContent(route.operation, incoming, parts.strict) : {};
  const received = { ...(route && { operation: route.operation }), method, path, headers, ...content };
  // Of a file only its facts are kept.
  parts.requests.add(received, content.body === undefined ? 0 : (incoming.body?.byteLength ?? 0));
  const requestId = `req-${parts.requests.count}`;
  const script = route && parts.failures.take(route.operation);
  const real = (): Answer => answerOf(parts, incoming, route, { ...content, ...(refusal && { refusal }) });
  const answer = withRequestId(choose(script, real), requestId);
  if (script && script.delayMs > 0) await wait(script.delayMs, signal);
  const kind = script === undefined || script.kind === "late" ? "answer" : script.kind;
  return { kind, answer };
}

function choose(script: Script | undefined, real: () => Answer): Answer {
  const answer = script === undefined || script.executes ? real() : undefined;
  return script?.answer ?? answer ?? { status: 200, headers: {}, body: "" };
}

function answerOf(parts: Parts, incoming: Incoming, route: Route | undefined, content: Content): Answer {
  try {
    if (route === undefined) {
      throw new Refusal("NOT_FOUND", `There is no operation ${incoming.method} ${incoming.path}.`);
    }
    checkKey(incoming.headers.authorization, parts.apiKey);
    if (content.refusal) throw content.refusal;
    const id = (name: string): string => decodeId(route.ids[name]);
    const { body, file } = content;
    const request = { state: parts.state, id, body: body as never, file };
    return jsonAnswer(operations[route.operation](request));
  } catch (error) {
    if (error instanceof Refusal) return error.answer;
    throw error;
  }
}

function checkKey(authorization: string | undefined, apiKey: string | undefined): void {
  const key = /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1];
  if (key === undefined)
    throw new Refusal("UNAUTHENTICATED", "The API key is missing: send it as a bearer key.");
  if (apiKey !== undefined && key !== apiKey) {
    throw new Refusal("UNAUTHENTICATED", "The API key is not the one this service was created with.");
  }
}

function withRequestId(answer: Answer, id: string): Answer {
  return { ...answer, headers: { "x-request-id": id, ...answer.headers } };
}

/** Waits, but no longer than the sender does. */
function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, Math.min(ms, longestTimerMs));
    signal.addEventListener("abort", done);
    if (signal.aborted) done();
  });
}
