import assert from "node:assert/strict";
import { test } from "node:test";
import { type Attributes, SpanKind, type SpanStatus, SpanStatusCode } from "@opentelemetry/api";
import { runProgram } from "./support/program.ts";
import { server, service } from "./support/service.ts";

interface Span {
  readonly id: string;
  readonly traceId: string;
  readonly parent?: string;
  readonly name: string;
  readonly kind: SpanKind;
  readonly status: SpanStatus;
  readonly attributes: Attributes;
}

async function tracedCalls(env: Record<string, string> = {}): Promise<readonly Span[]> {
  service.fail("rerank", { code: "UNAVAILABLE" });
  service.fail("scale", { code: "NOT_FOUND", message: "There is no such deployment." });
  return JSON.parse(await runProgram("tracedCalls.ts", server.url, env));
}

const named = (spans: readonly Span[], name: string): Span => {
  const found = spans.filter((span) => span.name === name);
  assert.equal(found.length, 1, name);
  return found[0] as Span;
};
const rerankStatuses = (spans: readonly Span[]) =>
  clientSpans(spans, "/inference/v1/rerank").map(({ attributes }) => attributes["http.response.status_code"]);
const clientSpans = (spans: readonly Span[], path: string) =>
  spans.filter(
    ({ kind, attributes }) =>
      // A rerank's own span is one of a client, too, and has no URL.
      kind === SpanKind.CLIENT &&
      attributes["url.full"] !== undefined &&
      new URL(`${attributes["url.full"]}`).pathname === path,
  );

test("the http instrumentation sees one client span for each attempt", async () => {
  const spans = await tracedCalls();
  assert.deepEqual(rerankStatuses(spans), [503, 200]);
  const program = named(spans, "program");
  assert.ok(clientSpans(spans, "/inference/v1/rerank").every(({ parent }) => parent === program.id));
  assert.equal(service.requests.filter(({ operation }) => operation === "rerank").length, 2);
});

test("it sees calls over https as well", async () => {
  const spans = await tracedCalls();
  const secure = spans.filter(({ attributes }) =>
    `${attributes["url.full"]}`.startsWith("https://127.0.0.1:1/"),
  );
  assert.equal(secure.length, 1);
  assert.equal(secure[0]?.kind, SpanKind.CLIENT);
});

test("with the recipe each call is a span around its attempts", async () => {
  const spans = await tracedCalls({ CALL_SPANS: "1" });
  const program = named(spans, "program");
  const call = named(spans, "rerank");
  assert.equal(call.parent, program.id);
  assert.equal(call.attributes["tunerank.attempts"], 2);
  assert.equal(call.status.code, SpanStatusCode.UNSET);
  assert.deepEqual(rerankStatuses(spans), [503, 200]);
  assert.ok(clientSpans(spans, "/inference/v1/rerank").every(({ parent }) => parent === call.id));
});

test("with the recipe a call that fails is a span with its error, and what runs beside it is none of its children", async () => {
  const spans = await tracedCalls({ CALL_SPANS: "1" });
  const [call] = spans.filter(
    ({ name, parent }) => name === "tunerank scaleDeployment" && parent !== undefined,
  );
  assert.equal(call?.status.code, SpanStatusCode.ERROR);
  // The service's own text is in no span.
  assert.equal(call?.status.message, "NOT_FOUND");
  assert.equal(call?.attributes["tunerank.attempts"], 1);
  const program = named(spans, "program");
  assert.equal(call?.parent, program.id);
  assert.equal(named(spans, "between").parent, program.id);
});

for (const version of ["1.9", "1.10"]) {
  test(`with @opentelemetry/api ${version} calls and attempts are spans, one within the other`, async () => {
    const spans = await tracedCalls({ ALL_SPANS: version });
    const program = named(spans, "program");
    const calls = spans.filter(({ parent }) => parent === program.id);
    const about = (name: string) =>
      calls.filter(({ attributes }) => attributes["tunerank.operation"] === name);
    const [refused, missing] = [...about("scaleDeployment")].sort(
      (a, b) => Number(a.attributes["tunerank.attempts"]) - Number(b.attributes["tunerank.attempts"]),
    );
    assert.equal(refused?.attributes["error.type"], "INVALID_ARGUMENT");
    assert.equal(missing?.attributes["error.type"], "NOT_FOUND");
    assert.equal(missing?.status.code, SpanStatusCode.ERROR);
    const [single] = about("rerankDocuments").filter(({ attributes }) => !attributes["tunerank.batches"]);
    assert.equal(single?.attributes["tunerank.attempts"], 2);
    assert.equal(single?.attributes["gen_ai.usage.input_tokens"], 2);
    assert.equal(single?.attributes["gen_ai.operation.name"], "rerank");
    assert.equal(single?.attributes["gen_ai.provider.name"], "tunerank");
    const attempts = spans.filter(({ parent, kind }) => parent === single?.id && kind === SpanKind.CLIENT);
    assert.deepEqual(
      attempts.map(({ name, attributes }) => [name, attributes["http.response.status_code"]]),
      [
        ["POST", 503],
        ["POST", 200],
      ],
    );
    for (const { attributes } of attempts)
      assert.equal(attributes["url.full"], `${server.url}/inference/v1/rerank`);
    const [batched] = about("rerankDocuments").filter(
      ({ attributes }) => attributes["tunerank.batches"] === 2,
    );
    assert.equal(spans.filter(({ parent }) => parent === batched?.id).length, 2);
  });
}

test("each attempt carries its own span to the service", async () => {
  const spans = await tracedCalls({ CALL_SPANS: "1" });
  const attempts = clientSpans(spans, "/inference/v1/rerank");
  const sent = service.requests.filter(({ operation }) => operation === "rerank");
  assert.deepEqual(
    sent.map(({ headers }) => headers.traceparent),
    attempts.map(({ traceId, id }) => `00-${traceId}-${id}-01`),
  );
});
