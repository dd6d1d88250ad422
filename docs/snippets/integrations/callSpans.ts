import { tracingChannel } from "node:diagnostics_channel";
import { context, SpanStatusCode, trace } from "@opentelemetry/api";
import type { CallTrace } from "tunerank";

const tracer = trace.getTracer("tunerank");
const open = (call: CallTrace) => {
  const span = tracer.startSpan(`tunerank ${call.operation}`);
  return {
    span,
    token: context.attach(trace.setSpan(context.active(), span)),
  };
};
const spans = new WeakMap<CallTrace, ReturnType<typeof open>>();

tracingChannel<unknown, CallTrace>("tunerank.call").subscribe({
  start: (call) => void spans.set(call, open(call)),
  // The call goes on, its span with it; its caller's code goes on without.
  end: (call) => spans.get(call)?.token.dispose(),
  asyncStart() {},
  error(call) {
    const { message } = call.error as Error;
    spans
      .get(call)
      ?.span.setStatus({ code: SpanStatusCode.ERROR, message });
  },
  asyncEnd(call) {
    const span = spans.get(call)?.span;
    span?.setAttribute("tunerank.attempts", call.attempts?.length ?? 0);
    span?.end();
  },
});
