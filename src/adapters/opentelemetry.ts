/**
 * Spans of calls and attempts for OpenTelemetry, and metrics of reranks. Node only.
 *
 * @module tunerank/opentelemetry
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { tracingChannel } from "node:diagnostics_channel";
import { invalid, isStatusError } from "../errors/statusError.js";
import { version } from "../generated/version.js";
import { checkFlag, checkString } from "../options/arguments.js";
import type { AttemptTrace, CallTrace } from "../options/types.js";
import { type OptionTable, ownProperties } from "../options/validate.js";
import { memberOf } from "../values.js";

/** The value of a span's attribute. */
export type AttributeValue = string | number | boolean;

/** The part of a span that is used. */
export interface SpanLike {
  /**
   * Adds the attributes that are known when the call or attempt has ended.
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

/** The part of a histogram of OpenTelemetry that is used. */
export interface HistogramLike {
  /**
   * Records a measurement.
   *
   * @param value In the instrument's unit.
   * @param attributes By name.
   */
  record(value: number, attributes: Record<string, AttributeValue>): void;
}

/** The part of a meter of OpenTelemetry that is used: `api.metrics.getMeter("tunerank")`. */
export interface MeterLike {
  /**
   * Makes an instrument.
   *
   * @param name Its name in the semantic conventions.
   * @param options Its unit, what it measures, and the bounds that the conventions advise.
   */
  createHistogram(
    name: string,
    options: { description: string; unit: string; advice: { explicitBucketBoundaries: number[] } },
  ): HistogramLike;
}

/** Options of {@link traceCalls}. */
export interface TraceCallsOptions {
  /**
   * Make a span of each attempt as well. Set it to false where OpenTelemetry's http instrumentation makes one of its own:
   * it also sends `traceparent`, which this package does not.
   * @default true
   */
  attempts?: boolean | undefined;
  /** The `gen_ai.provider.name` of reranks: who serves the models. @default "tunerank" */
  provider?: string | undefined;
  /** Gets the duration and the tokens of each rerank: `gen_ai.client.operation.duration` and `tunerank.usage.input_tokens`. */
  meter?: MeterLike | undefined;
}

/**
 * Makes a span of each call of this process's clients, and a child span of each attempt. Batches of `rerank.items` are
 * children of their call; what is refused before it is sent is a span too. A rerank's span has the name, kind and
 * attributes of the semantic conventions for GenAI, 0.1.0; what these have no name for begins with `tunerank.`. No span and no metric holds a key, a body, a URL's
 * query or a text of the service: a failure's message is its code.
 *
 * @param api Your package `@opentelemetry/api`, 1.9 or newer.
 * @param options Whether attempts have spans of their own, who the provider is, and a meter.
 * @returns A function that ends the tracing.
 * @throws StatusError `INVALID_ARGUMENT` when an option cannot be used.
 * @example
 * import * as api from "@opentelemetry/api";
 * const stop = traceCalls(api, { meter: api.metrics.getMeter("tunerank") });
 */
export function traceCalls(api: OpenTelemetryApi, options: TraceCallsOptions = {}): () => void {
  const { attempts = true, provider = "tunerank", meter } = ownProperties(options, "options", optionNames);
  const measure = meter && measureWith(meter);
  const stops = [follow(api, "tunerank.call", { ...callSpans(provider), measure })];
  if (attempts) stops.push(follow(api, "tunerank.attempt", attemptSpans));
  return () => {
    for (const stop of stops) stop();
  };
}

const optionNames: OptionTable<TraceCallsOptions> = {
  attempts: checkFlag,
  provider: checkProvider,
  meter: checkMeter,
};

function checkProvider(value: unknown, what: string): string {
  checkString(value, what);
  if (value === "") throw invalid(what, `${what} is empty.`);
  return value;
}

function checkMeter(value: unknown, what: string): MeterLike {
  if (typeof memberOf(value, "createHistogram") !== "function")
    throw invalid(what, `${what} must have createHistogram, as OpenTelemetry's meters do.`);
  return value as MeterLike;
}

// OpenTelemetry's numbers for the kind of a span, and for a failure.
const internal = 0;
const client = 2;
const failed = 2;

type Attributes = Record<string, AttributeValue>;

interface SpanRules<T> {
  readonly kind: (event: T) => number;
  readonly name: (event: T) => string;
  /** The attributes known when the event begins, and those known when it has ended: a failed one has an `error.type`. */
  readonly begun: (event: T) => Readonly<Record<string, unknown>>;
  readonly ended: (event: T) => Readonly<Record<string, unknown>>;
  /** Called at the end with all attributes and the duration. */
  readonly measure?: ((known: Readonly<Attributes>, seconds: number) => void) | undefined;
}

function callSpans(provider: string): SpanRules<CallTrace> {
  return {
    // The conventions for GenAI (semantic-conventions-genai 0.1.0): `{gen_ai.operation.name} {gen_ai.request.model}`.
    kind: (call) => (isRerank(call) ? client : internal),
    name: (call) =>
      isRerank(call) ? ["rerank", call.model].filter(Boolean).join(" ") : `tunerank ${call.operation}`,
    begun: (call) => ({
      "tunerank.operation": call.operation,
      ...addressOf(call),
      ...(isRerank(call) && { "gen_ai.operation.name": "rerank", "gen_ai.provider.name": provider }),
      "gen_ai.request.model": call.model,
      "tunerank.documents": call.documents,
      "tunerank.batches": call.batches,
    }),
    ended: ({ attempts, batches, error, model, usage }) => ({
      "tunerank.attempts": attempts?.length,
      "gen_ai.response.model": usage && model,
      // Absent for a call with batches, which have their own spans: a sum over all spans then counts each token once.
      "gen_ai.usage.input_tokens": batches === undefined ? numberOf(usage?.prompt_tokens) : undefined,
      "tunerank.usage.total_tokens": numberOf(usage?.total_tokens),
      "error.type": codeOf(error),
      "tunerank.executed": isStatusError(error) ? error.executed : undefined,
    }),
  };
}

function isRerank({ operation }: CallTrace): boolean {
  return operation === "rerankDocuments";
}

const attemptSpans: SpanRules<AttemptTrace> = {
  kind: () => client,
  name: ({ method }) => method,
  begun: (attempt) => ({
    "server.port": attempt.scheme === "https" ? 443 : 80,
    ...defined(addressOf(attempt)),
    "url.full": `${attempt.scheme}://${attempt.host}${attempt.path}`,
    "http.request.resend_count": attempt.number > 1 ? attempt.number - 1 : undefined,
  }),
  ended: ({ code, httpStatus, requestId }) => ({
    "http.response.status_code": httpStatus,
    "tunerank.request_id": requestId,
    "error.type": code,
  }),
};

// An error's code, not its message, which may quote what people sent. `_OTHER` is the conventions' word for no code.
function codeOf(error: unknown): string | undefined {
  if (error === undefined) return undefined;
  return isStatusError(error) ? error.code : "_OTHER";
}

// A number in the service's `usage`, which is not checked and may have values of any type.
function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

const measured = [
  "gen_ai.operation.name",
  "gen_ai.provider.name",
  "gen_ai.request.model",
  "gen_ai.response.model",
  "server.address",
  "server.port",
  "error.type",
];
// Histogram bounds: 10 ms to 82 s, which the semantic conventions advise, and 1 token to 67 million.
const secondsBounds = Array.from({ length: 14 }, (_, power) => (10 * 2 ** power) / 1000);
const tokensBounds = Array.from({ length: 14 }, (_, power) => 4 ** power);

function measureWith(meter: MeterLike): SpanRules<CallTrace>["measure"] {
  const duration = meter.createHistogram("gen_ai.client.operation.duration", {
    description: "How long a rerank took, with its retries.",
    unit: "s",
    advice: { explicitBucketBoundaries: secondsBounds },
  });
  const tokens = meter.createHistogram("tunerank.usage.input_tokens", {
    description: "The tokens of a rerank's prompt.",
    unit: "{token}",
    advice: { explicitBucketBoundaries: tokensBounds },
  });
  return (known, seconds) => {
    // Only reranks are measured. A rerank with batches is not, because each of its batches is.
    if (known["gen_ai.operation.name"] === undefined || known["tunerank.batches"] !== undefined) return;
    const about = defined(Object.fromEntries(measured.map((name) => [name, known[name]])));
    duration.record(seconds, about);
    const used = known["gen_ai.usage.input_tokens"];
    if (typeof used === "number") tokens.record(used, about);
  };
}

function addressOf({ host = "", method, path }: CallTrace | AttemptTrace): Record<string, unknown> {
  const [, address, port] = /^(.+?)(?::(\d+))?$/.exec(host) ?? [];
  return {
    "http.request.method": method,
    "url.path": path,
    "server.address": address,
    "server.port": port === undefined ? undefined : Number(port),
  };
}

function defined(attributes: Readonly<Record<string, unknown>>): Attributes {
  const found = Object.entries(attributes).filter(([, value]) => value !== undefined);
  return Object.fromEntries(found) as Attributes;
}

function follow<T extends object>(api: OpenTelemetryApi, traced: string, rules: SpanRules<T>): () => void {
  const { kind, name, begun, ended, measure } = rules;
  const channel = tracingChannel<unknown, T>(traced);
  const tracer = api.trace.getTracer("tunerank", version);
  const spans = new WeakMap<T, { span: SpanLike; attributes: Attributes; startedAt: number }>();
  const open = (event: T): unknown => {
    const attributes = defined(begun(event));
    const span = tracer.startSpan(name(event), { kind: kind(event), attributes });
    spans.set(event, { span, attributes, startedAt: performance.now() });
    return api.trace.setSpan(api.context.active() as never, span as never);
  };
  const close = (event: T): void => {
    const opened = spans.get(event);
    if (opened === undefined) return;
    const { span, attributes, startedAt } = opened;
    const known = defined(ended(event));
    const message = known["error.type"];
    span.setAttributes(known);
    if (typeof message === "string") span.setStatus({ code: failed, message });
    span.end();
    measure?.({ ...attributes, ...known }, (performance.now() - startedAt) / 1000);
  };
  // Node's tracing channel runs each call and each attempt with this store, which makes its span the active one of
  // OpenTelemetry. It uses only OpenTelemetry's stable API.
  const store = Object.assign(new AsyncLocalStorage<unknown>(), {
    run: (context: unknown, callback: (...given: unknown[]) => unknown, ...given: unknown[]) =>
      api.context.with(context as never, () => callback(...given)),
  });
  const listeners = { start() {}, end() {}, asyncStart() {}, error() {}, asyncEnd: close };
  channel.subscribe(listeners);
  channel.start.bindStore(store, open as never);
  return () => {
    channel.start.unbindStore(store);
    channel.unsubscribe(listeners);
  };
}
