// A program under OpenTelemetry: a call that is repeated, one that is refused, one over https. It prints its spans.
import { context, propagation, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { registerInstrumentations } from "@opentelemetry/instrumentation";
import { HttpInstrumentation } from "@opentelemetry/instrumentation-http";
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { createClient } from "tunerank";

const exporter = new InMemorySpanExporter();
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
propagation.setGlobalPropagator(new W3CTraceContextPropagator());
trace.setGlobalTracerProvider(
  new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] }),
);
registerInstrumentations({ instrumentations: [new HttpInstrumentation()] });
if (process.env.CALL_SPANS) await import("./documented/callSpans.ts");

const client = createClient();
const tracer = trace.getTracer("program");
await tracer.startActiveSpan("program", async (span) => {
  const calls = [
    client.rerank({ query: "q", documents: ["d"] }),
    client.deployments.scale("missing", 0).catch(() => {}),
  ];
  // Made after the calls began, and no part of them.
  tracer.startSpan("between").end();
  await Promise.all(calls);
  span.end();
});
const secure = client.withOptions({ baseUrl: "https://127.0.0.1:1", maxRetries: 0 });
await secure.deployments.scale("prod", 0).catch(() => {});

const spans = exporter.getFinishedSpans().map((span) => {
  const { spanId: id, traceId } = span.spanContext();
  const { name, kind, status, attributes, parentSpanContext } = span;
  return { id, traceId, parent: parentSpanContext?.spanId, name, kind, status, attributes };
});
console.log(JSON.stringify(spans));
