import { sentences } from "../errors/hints.js";
import { invalid, isStatusError } from "../errors/statusError.js";
import { type OperationId, operations, requests } from "../generated/contract.js";
import { longestTimerMs } from "../options/arguments.js";
import { idRules } from "../options/contractChecks.js";
import type { AbortSignalLike } from "../options/types.js";
import { camelCase } from "../options/validate.js";
import { valueOr } from "../values.js";
import { carryOut, nameOf } from "./behaviours.js";
import { goodResponse, type MockResponse, Refusal, type ReplyKind } from "./mockResponse.js";
import { checkAll, type Incoming, type ReceivedContent, readRequest } from "./receive.js";
import type { MockState } from "./state.js";

/** Responds to a request: records it, carries out its operation, and waits if a script says so. */
export async function handle(
  state: MockState,
  incoming: Incoming,
): Promise<{ readonly kind: ReplyKind; readonly response: MockResponse }> {
  const { method, path, query, headers, signal } = incoming;
  const template = routes.find(({ pattern }) => pattern.test(path))?.path;
  const sameTemplate = routes.filter((each) => each.path === template);
  const route = sameTemplate.find((each) => each.method === method);
  const content: ReceivedContent = {};
  const reading = route && readRequest(requests[route.operation], incoming, state.options.strict, content);
  const rejection: unknown = await reading?.catch((error: unknown) => error);
  const asked = { method, path, ...(query !== "" && { query }), headers };
  const received = { ...(route && { operation: nameOf(route.operation) }), ...asked, ...content };
  // Only the name, type, size and hash of a file are kept, so a file counts as 0 bytes.
  state.record(received, content.body === undefined ? 0 : (incoming.body?.byteLength ?? 0));

  const carriedOut = (): MockResponse => {
    if (route === undefined) {
      const message = `There is no operation ${method} ${path}.`;
      const allow = sameTemplate.map((each) => each.method).join(", ");
      if (allow === "") throw new Refusal("NOT_FOUND", message);
      throw new Refusal("UNIMPLEMENTED", message, 405, { allow });
    }
    checkKey(headers.authorization, state.options.apiKey);
    if (rejection) throw rejection;
    const { operation, pattern } = route;
    const ids: Record<string, string> = {};
    for (const [name, text] of Object.entries(pattern.exec(path)?.groups ?? {})) {
      const id = valueOr(() => decodeURIComponent(text));
      if (id === undefined) throw invalid(name, "An id in the path is not well encoded.");
      const rules = idRules?.get(operation + name);
      if (rules) checkAll(id, rules, camelCase(name));
      ids[name] = id;
    }
    const value = carryOut(operation, { state, ids, body: content.body, file: content.file });
    return state.responses.get(operation) ?? goodResponse(operation, value);
  };
  const requestId = `req-${state.count.requests}`;
  const script = route && state.nextScript(route.operation);
  const real = script?.executes === false ? undefined : unlessRejected(carriedOut);
  const chosen = script?.response ?? real ?? { status: 200, headers: {}, body: "" };
  if (script && script.delayMs > 0) await wait(script.delayMs, signal);
  const { kind = "response" } = script ?? {};
  return {
    // An empty body has no half to send: reset the connection instead.
    kind: kind === "truncate" && chosen.body.length === 0 ? "reset" : kind,
    response: { ...chosen, headers: { "x-request-id": requestId, ...chosen.headers } },
  };
}

function unlessRejected(carryOut: () => MockResponse): MockResponse {
  try {
    return carryOut();
  } catch (error) {
    if (error instanceof Refusal) return error.response;
    if (isStatusError(error)) return new Refusal(error.code, sentences(error.text, error.hint)).response;
    throw error;
  }
}

function checkKey(authorization: string | undefined, apiKey: string | undefined): void {
  const key = /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1];
  if (key === undefined)
    throw new Refusal("UNAUTHENTICATED", "The API key is missing: send it as a bearer key.");
  if (apiKey !== undefined && key !== apiKey)
    throw new Refusal("UNAUTHENTICATED", "The API key is not the one this service was created with.");
}

/** Waits, but ends early when the client aborts or disconnects. */
function wait(ms: number, signal: AbortSignalLike): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(done, Math.min(ms, longestTimerMs));
    signal.addEventListener("abort", done);
    if (signal.aborted) done();
  });
}

// The operations, with patterns that match their paths: a verb such as `:resume` must match literally. The paths with
// the most literal characters come first, because an id would match a verb, too.
const routes = Object.entries(operations)
  .map(([id, { method, path }]) => {
    const source = path.replace(/[.*+?^$()|[\]\\]/g, "\\$&").replace(/\{(\w+)\}/g, "(?<$1>[^/]+)");
    const literal = path.replace(/\{\w+\}/g, "").length;
    return { operation: id as OperationId, method, path, pattern: new RegExp(`^${source}$`), literal };
  })
  .sort((a, b) => b.literal - a.literal);
