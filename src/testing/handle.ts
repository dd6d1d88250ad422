import { type OperationId, operations } from "../generated/contract.js";
import { longestTimerMs } from "../options/arguments.js";
import type { AbortSignalLike } from "../options/types.js";
import { carryOut, nameOf } from "./behaviours.js";
import { type Incoming, type ReceivedContent, readRequest } from "./receive.js";
import { type Failures, goodAnswer, Refusal, type Script, type StandInAnswer } from "./standInAnswer.js";
import type { KeptRequests, StandInState } from "./state.js";

export interface Parts {
  readonly apiKey: string | undefined;
  readonly state: StandInState;
  /** Whether unknown fields are refused. */
  readonly strict: boolean;
  readonly failures: Failures;
  readonly answers: Map<OperationId, StandInAnswer>;
  readonly requests: KeptRequests;
}

/** What to do with a request: answer it whole, or not quite. */
export interface StandInReply {
  readonly kind: "answer" | "reset" | "stall" | "truncate";
  readonly answer: StandInAnswer;
}

export async function handle(parts: Parts, incoming: Incoming): Promise<StandInReply> {
  const { method, path, query, headers, signal } = incoming;
  const route = routeOf(method, path);
  const { refusal, ...content } = route ? await readRequest(route.operation, incoming, parts.strict) : {};
  const asked = { method, path, ...(query !== "" && { query }), headers };
  const received = { ...(route && { operation: nameOf(route.operation) }), ...asked, ...content };
  // Of a file only its facts are kept.
  parts.requests.add(received, content.body === undefined ? 0 : (incoming.body?.byteLength ?? 0));
  const script = route && parts.failures.take(route.operation);
  const real = (): StandInAnswer =>
    standInAnswer(parts, incoming, route, { ...content, ...(refusal && { refusal }) });
  const chosen = choose(script, real);
  const answer = { ...chosen, headers: { "x-request-id": `req-${parts.requests.count}`, ...chosen.headers } };
  if (script && script.delayMs > 0) await wait(script.delayMs, signal);
  return { kind: behaviourOf(script, answer), answer };
}

function behaviourOf(script: Script | undefined, { body }: StandInAnswer): StandInReply["kind"] {
  if (script === undefined || script.kind === "late") return "answer";
  // Of nothing there is no half.
  return script.kind === "truncate" && body.length === 0 ? "reset" : script.kind;
}

function choose(script: Script | undefined, real: () => StandInAnswer): StandInAnswer {
  const answer = script === undefined || script.executes ? real() : undefined;
  return script?.answer ?? answer ?? { status: 200, headers: {}, body: "" };
}

function standInAnswer(
  parts: Parts,
  incoming: Incoming,
  route: Route | undefined,
  content: ReceivedContent,
): StandInAnswer {
  try {
    if (route === undefined) return noOperation(incoming);
    checkKey(incoming.headers.authorization, parts.apiKey);
    if (content.refusal) throw content.refusal;
    const { operation } = route;
    const ids = new Map(Object.entries(route.ids).map(([name, id]) => [name, decodeId(id)]));
    const { body, file } = content;
    const value = carryOut(operation, { state: parts.state, id: (name) => ids.get(name) ?? "", body, file });
    return parts.answers.get(operation) ?? goodAnswer(operation, value);
  } catch (error) {
    if (error instanceof Refusal) return error.answer;
    throw error;
  }
}

function noOperation({ method, path }: Incoming): StandInAnswer {
  const message = `There is no operation ${method} ${path}.`;
  const allowed = routesOf(path).map((route) => route.method);
  if (allowed.length === 0) return new Refusal("NOT_FOUND", message).answer;
  const { headers, ...answer } = new Refusal("UNIMPLEMENTED", message, 405).answer;
  return { ...answer, headers: { ...headers, allow: allowed.join(", ") } };
}

function checkKey(authorization: string | undefined, apiKey: string | undefined): void {
  const key = /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1];
  if (key === undefined)
    throw new Refusal("UNAUTHENTICATED", "The API key is missing: send it as a bearer key.");
  if (apiKey !== undefined && key !== apiKey) {
    throw new Refusal("UNAUTHENTICATED", "The API key is not the one this service was created with.");
  }
}

/** Waits, but no longer than the sender does. */
function wait(ms: number, signal: AbortSignalLike): Promise<void> {
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

/** The operation a request asks for, and the ids in its path, not decoded. */
export interface Route {
  readonly operation: OperationId;
  readonly ids: Readonly<Record<string, string>>;
}

// The path with the most words of its own first: that of a verb, before one whose last id could hold the verb.
const routes = Object.entries(operations)
  .map(([id, { method, path }]) => ({ operation: id as OperationId, method, path, ...patternOf(path) }))
  .sort((a, b) => b.literal - a.literal);

// The verb of a path is literal.
function routeOf(method: string, path: string): Route | undefined {
  const route = routesOf(path).find((each) => each.method === method);
  return route && { operation: route.operation, ids: { ...route.pattern.exec(path)?.groups } };
}

function routesOf(path: string): typeof routes {
  const template = routes.find(({ pattern }) => pattern.test(path))?.path;
  return routes.filter((each) => each.path === template);
}

// An id as it was before it stood in a path.
function decodeId(text: string | undefined): string {
  try {
    return decodeURIComponent(text ?? "");
  } catch {
    throw new Refusal("INVALID_ARGUMENT", "An id in the path is not well encoded.");
  }
}

function patternOf(path: string): { pattern: RegExp; literal: number } {
  const literal = path.replace(/[.*+?^$()|[\]\\]/g, "\\$&");
  return {
    pattern: new RegExp(`^${literal.replace(/\{(\w+)\}/g, "(?<$1>[^/]+)")}$`),
    literal: path.replace(/\{\w+\}/g, "").length,
  };
}
