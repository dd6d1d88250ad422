// A program under OpenTelemetry: a call that is repeated, one that is refused, one over https. It prints its spans.
import { context, propagation, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { registerInstrumentations } from "@opentelemetry/instrumentation";
import { HttpInstrumentation } from "@opentelemetry/instrumentation-http";
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { createClient } from "tunerank";
import { traceCalls } from "tunerank/opentelemetry";

const exporter = new InMemorySpanExporter();
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
propagation.setGlobalPropagator(new W3CTraceContextPropagator());
trace.setGlobalTracerProvider(
  new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] }),
);
if (!process.env.ALL_SPANS) registerInstrumentations({ instrumentations: [new HttpInstrumentation()] });
const { CALL_SPANS, ALL_SPANS } = process.env;
if (CALL_SPANS) await import("./documented/callSpans.ts");
// "1.9" or "1.10".
const api = ALL_SPANS === "1.9" ? await import("@opentelemetry/api-1.9") : await import("@opentelemetry/api");
if (ALL_SPANS) traceCalls(api);

const client = createClient();
const tracer = trace.getTracer("program");
await tracer.startActiveSpan("program", async (span) => {
  const calls = [
    client.rerank({ query: "q", documents: ["d"] }),
    client.deployments.scale("missing", 0).catch(() => {}),
    ...(ALL_SPANS ? refusedAndBatched() : []),
  ];
  // Made after the calls began, and no part of them.
  tracer.startSpan("between").end();
  await Promise.all(calls);
  span.end();
});
function refusedAndBatched(): Promise<unknown>[] {
  return [
    client.deployments.scale("a/b", 0).catch(() => {}),
    client.rerank.items("q", ["a", "b", "c"], { text: (item) => item, batchSize: 2 }),
  ];
}
const secure = client.withOptions({ baseUrl: "https://127.0.0.1:1", maxRetries: 0 });
await secure.deployments.scale("prod", 0).catch(() => {});

const spans = exporter.getFinishedSpans().map((span) => {
  const { spanId: id, traceId } = span.spanContext();
  const { name, kind, status, attributes, parentSpanContext } = span;
  return { id, traceId, parent: parentSpanContext?.spanId, name, kind, status, attributes };
});
console.log(JSON.stringify(spans));
