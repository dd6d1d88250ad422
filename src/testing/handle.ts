import { type OperationId, operations } from "../generated/contract.js";
import { longestTimerMs } from "../options/arguments.js";
import { idRules } from "../options/contractChecks.js";
import type { AbortSignalLike } from "../options/types.js";
import { camelCase } from "../options/validate.js";
import { carryOut, nameOf } from "./behaviours.js";
import { type Failures, goodResponse, type MockResponse, Refusal, type Script } from "./mockResponse.js";
import { type Incoming, type ReceivedContent, readRequest, refusalOf } from "./receive.js";
import type { KeptRequests, MockState } from "./state.js";

export interface Parts {
  readonly apiKey: string | undefined;
  readonly state: MockState;
  /** Whether unknown fields are rejected. */
  readonly strict: boolean;
  readonly failures: Failures;
  readonly responses: Map<OperationId, MockResponse>;
  readonly requests: KeptRequests;
}

/** How to respond: with the whole response, by a reset, not at all (`stall`), or with half of the body (`truncate`). */
export interface MockReply {
  readonly kind: "response" | "reset" | "stall" | "truncate";
  readonly response: MockResponse;
}

export async function handle(parts: Parts, incoming: Incoming): Promise<MockReply> {
  const { method, path, query, headers, signal } = incoming;
  const route = routeOf(method, path);
  const { refusal, ...content } = route ? await readRequest(route.operation, incoming, parts.strict) : {};
  const asked = { method, path, ...(query !== "" && { query }), headers };
  const received = { ...(route && { operation: nameOf(route.operation) }), ...asked, ...content };
  // Only the name, type, size and hash of a file are kept, so a file counts as 0 bytes.
  parts.requests.add(received, content.body === undefined ? 0 : (incoming.body?.byteLength ?? 0));
  const script = route && parts.failures.take(route.operation);
  const real = (): MockResponse =>
    mockResponse(parts, incoming, route, { ...content, ...(refusal && { refusal }) });
  const chosen = choose(script, real);
  const response = {
    ...chosen,
    headers: { "x-request-id": `req-${parts.requests.count}`, ...chosen.headers },
  };
  if (script && script.delayMs > 0) await wait(script.delayMs, signal);
  return { kind: behaviourOf(script, response), response };
}

function behaviourOf(script: Script | undefined, { body }: MockResponse): MockReply["kind"] {
  if (script === undefined || script.kind === "late") return "response";
  // An empty body has no half to send: reset the connection instead.
  return script.kind === "truncate" && body.length === 0 ? "reset" : script.kind;
}

function choose(script: Script | undefined, real: () => MockResponse): MockResponse {
  const response = script === undefined || script.executes ? real() : undefined;
  return script?.response ?? response ?? { status: 200, headers: {}, body: "" };
}

function mockResponse(
  parts: Parts,
  incoming: Incoming,
  route: Route | undefined,
  content: ReceivedContent,
): MockResponse {
  try {
    if (route === undefined) return noOperation(incoming);
    checkKey(incoming.headers.authorization, parts.apiKey);
    if (content.refusal) throw content.refusal;
    const { operation } = route;
    const ids = new Map(Object.entries(route.ids).map(([name, id]) => [name, decodeId(id)]));
    for (const [name, id] of ids) checkIdRules(operation, name, id);
    const { body, file } = content;
    const value = carryOut(operation, { state: parts.state, id: (name) => ids.get(name) ?? "", body, file });
    return parts.responses.get(operation) ?? goodResponse(operation, value);
  } catch (error) {
    if (error instanceof Refusal) return error.response;
    throw error;
  }
}

function checkIdRules(operation: OperationId, name: string, id: string): void {
  const rules = idRules?.get(operation + name);
  const refusal = rules && refusalOf(id, rules, camelCase(name));
  if (refusal) throw refusal;
}

function noOperation({ method, path }: Incoming): MockResponse {
  const message = `There is no operation ${method} ${path}.`;
  const allowed = routesOf(path).map((route) => route.method);
  if (allowed.length === 0) return new Refusal("NOT_FOUND", message).response;
  const { headers, ...response } = new Refusal("UNIMPLEMENTED", message, 405).response;
  return { ...response, headers: { ...headers, allow: allowed.join(", ") } };
}

function checkKey(authorization: string | undefined, apiKey: string | undefined): void {
  const key = /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1];
  if (key === undefined)
    throw new Refusal("UNAUTHENTICATED", "The API key is missing: send it as a bearer key.");
  if (apiKey !== undefined && key !== apiKey) {
    throw new Refusal("UNAUTHENTICATED", "The API key is not the one this service was created with.");
  }
}

/** Waits, but ends early when the client aborts or disconnects. */
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

/** The operation that a request calls, and the ids in the request's path, not decoded. */
export interface Route {
  readonly operation: OperationId;
  readonly ids: Readonly<Record<string, string>>;
}

// The paths with the most literal characters come first: a path that ends in a verb such as `:resume` is matched before
// one whose last id would match the verb too.
const routes = Object.entries(operations)
  .map(([id, { method, path }]) => ({ operation: id as OperationId, method, path, ...patternOf(path) }))
  .sort((a, b) => b.literal - a.literal);

// Finds the operation by method and path; a verb such as `:resume` in a path must match literally.
function routeOf(method: string, path: string): Route | undefined {
  const route = routesOf(path).find((each) => each.method === method);
  return route && { operation: route.operation, ids: { ...route.pattern.exec(path)?.groups } };
}

function routesOf(path: string): typeof routes {
  const template = routes.find(({ pattern }) => pattern.test(path))?.path;
  return routes.filter((each) => each.path === template);
}

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
