/**
 * Spans of calls and attempts for OpenTelemetry. Node only.
 *
 * @module tunerank/opentelemetry
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { tracingChannel } from "node:diagnostics_channel";
import type { StatusError } from "../errors/statusError.js";
import { version } from "../generated/version.js";
import { checkFlag, ownProperties } from "../options/arguments.js";
import type { AttemptTrace, CallTrace } from "../options/types.js";

/** The value of a span's attribute. */
export type AttributeValue = string | number | boolean;

/** The part of a span that is used. */
export interface SpanLike {
  /**
   * Adds what is known when the call or attempt has ended.
   *
   * @param attributes By name.
   */
  setAttributes(attributes: Record<string, AttributeValue>): unknown;
  /**
   * Marks a failure.
   *
   * @param status Its code is 2, OpenTelemetry's for an error.
   */
  setStatus(status: { code: number; message?: string }): unknown;
  /** Ends the span now. */
  end(): void;
}

/** The part of `@opentelemetry/api` that is used, 1.9 and newer: `import * as api from "@opentelemetry/api"`. */
export interface OpenTelemetryApi {
  /** Where the tracer comes from, and how a span becomes the parent of others. */
  readonly trace: {
    getTracer(
      name: string,
      version?: string,
    ): {
      startSpan(
        name: string,
        options?: { kind?: number; attributes?: Record<string, AttributeValue> },
      ): SpanLike;
    };
    setSpan(context: never, span: never): unknown;
  };
  /** Which span is the parent of a new one. */
  readonly context: { active(): unknown; with(context: never, run: () => unknown): unknown };
}

/** Options of {@link traceCalls}. */
export interface TraceCallsOptions {
  /**
   * Make a span of each attempt as well. Set it to false where OpenTelemetry's http instrumentation makes one of its own:
   * it also sends `traceparent`, which this does not.
   * @default true
   */
  attempts?: boolean | undefined;
}

/**
 * Makes a span of each call of this process's clients, and a child span of each attempt. Batches of `rerank.items` are
 * children of their call; what is refused before it is sent is a span too. Names of attributes are those of the semantic
 * conventions where there are any, else they begin with `tunerank.`. No span holds a key, a body or an answer.
 *
 * @param api The package `@opentelemetry/api` of yours, 1.9 or newer.
 * @param options Whether attempts have spans of their own.
 * @returns a function that ends it.
 * @throws StatusError `INVALID_ARGUMENT` when an option cannot be used.
 * @example
 * import * as api from "@opentelemetry/api";
 * const stop = traceCalls(api);
 */
export function traceCalls(api: OpenTelemetryApi, options: TraceCallsOptions = {}): () => void {
  const { attempts = true } = ownProperties(options, "options", { attempts: 1 });
  const stopCalls = follow(api, "tunerank.call", callSpans);
  if (!checkFlag(attempts, "attempts")) return stopCalls;
  const stopAttempts = follow(api, "tunerank.attempt", attemptSpans);
  return () => {
    stopCalls();
    stopAttempts();
  };
}

// OpenTelemetry's numbers for the kind of a span, and for a failure.
const internal = 0;
const client = 2;
const failed = 2;

interface SpanRules<T> {
  readonly kind: number;
  readonly name: (event: T) => string;
  /** What is known when it begins, and when it has ended. */
  readonly begun: (event: T) => Readonly<Record<string, unknown>>;
  readonly ended: (event: T) => Readonly<Record<string, unknown>>;
  /** A message when it failed. */
  readonly failure: (event: T) => string | undefined;
}

const callSpans: SpanRules<CallTrace> = {
  kind: internal,
  name: ({ operation }) => `tunerank ${operation}`,
  begun: (call) => ({
    "tunerank.operation": call.operation,
    ...addressOf(call),
    "gen_ai.request.model": call.model,
    "tunerank.documents": call.documents,
    "tunerank.batches": call.batches,
  }),
  ended: ({ attempts, error, model, usage }) => ({
    "tunerank.attempts": attempts?.length,
    "gen_ai.response.model": usage && model,
    "gen_ai.usage.input_tokens": usage?.prompt_tokens,
    "tunerank.usage.total_tokens": usage?.total_tokens,
    "error.type": (error as StatusError | undefined)?.code,
    "tunerank.executed": (error as StatusError | undefined)?.executed,
  }),
  failure: ({ error }) => (error as StatusError | undefined)?.message,
};

const attemptSpans: SpanRules<AttemptTrace> = {
  kind: client,
  name: ({ method }) => method,
  begun: (attempt) => ({
    ...addressOf(attempt),
    "http.request.resend_count": attempt.number > 1 ? attempt.number - 1 : undefined,
  }),
  ended: ({ code, httpStatus, requestId }) => ({
    "http.response.status_code": httpStatus,
    "tunerank.request_id": requestId,
    "error.type": code,
  }),
  failure: ({ code }) => code,
};

function addressOf({ host = "", method, path }: CallTrace | AttemptTrace): Record<string, unknown> {
  const [, address, port] = /^(.+?)(?::(\d+))?$/.exec(host) ?? [];
  return {
    "http.request.method": method,
    "url.path": path,
    "server.address": address,
    "server.port": port === undefined ? undefined : Number(port),
  };
}

function defined(attributes: Readonly<Record<string, unknown>>): Record<string, AttributeValue> {
  const found = Object.entries(attributes).filter(([, value]) => value !== undefined);
  return Object.fromEntries(found) as Record<string, AttributeValue>;
}

function follow<T extends object>(api: OpenTelemetryApi, traced: string, rules: SpanRules<T>): () => void {
  const { kind, name, begun, ended, failure } = rules;
  const channel = tracingChannel<unknown, T>(traced);
  const tracer = api.trace.getTracer("tunerank", version);
  const spans = new WeakMap<T, SpanLike>();
  const open = (event: T): unknown => {
    const span = tracer.startSpan(name(event), { kind, attributes: defined(begun(event)) });
    spans.set(event, span);
    return api.trace.setSpan(api.context.active() as never, span as never);
  };
  const close = (event: T): void => {
    const span = spans.get(event);
    const message = failure(event);
    span?.setAttributes(defined(ended(event)));
    if (message !== undefined) span?.setStatus({ code: failed, message });
    span?.end();
  };
  const store = new ContextStore(api);
  const listeners = { start() {}, end() {}, asyncStart() {}, error() {}, asyncEnd: close };
  channel.subscribe(listeners);
  channel.start.bindStore(store, open as never);
  return () => {
    channel.start.unbindStore(store);
    channel.unsubscribe(listeners);
  };
}

// The channel runs a call within its stores: this one makes OpenTelemetry's context the active one, by stable API alone.
class ContextStore extends AsyncLocalStorage<unknown> {
  readonly #api: OpenTelemetryApi;

  constructor(api: OpenTelemetryApi) {
    super();
    this.#api = api;
  }

  override run<R, Given extends unknown[]>(
    context: unknown,
    callback: (...given: Given) => R,
    ...given: Given
  ): R {
    return this.#api.context.with(context as never, () => callback(...given)) as R;
  }
}
