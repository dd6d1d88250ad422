import { AsyncLocalStorage } from "node:async_hooks";
import { expect, test } from "vitest";
import {
  type AttributeValue,
  type MeterLike,
  type OpenTelemetryApi,
  traceCalls,
} from "../../src/adapters/opentelemetry.js";
import { useNoBackoff } from "../support/backoff.js";
import { canaryKey } from "../support/canary.js";
import { connect, failureOf, thrownBy } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { inTurn, unavailable } from "../support/responses.js";

const server = useRecordingServer();
useNoBackoff();

interface Span {
  readonly name: string;
  readonly kind: number | undefined;
  readonly parent: Span | undefined;
  readonly attributes: Record<string, AttributeValue>;
  status?: { code: number; message?: string };
  ended: boolean;
}

/** The shape of OpenTelemetry's API; the libraries themselves are tested in checks/integrations. */
function recorder(): { api: OpenTelemetryApi; spans: Span[] } {
  const spans: Span[] = [];
  const active = new AsyncLocalStorage<Span>();
  const api: OpenTelemetryApi = {
    trace: {
      getTracer: () => ({
        startSpan(name, { kind, attributes } = {}) {
          const span: Span = {
            name,
            kind,
            parent: active.getStore(),
            attributes: { ...attributes },
            ended: false,
          };
          spans.push(span);
          return {
            ...span,
            span,
            setAttributes: (more) => Object.assign(span.attributes, more),
            setStatus: (status) => Object.assign(span, { status }),
            end: () => void Object.assign(span, { ended: true }),
          };
        },
      }),
      setSpan: (_context, { span }: { span: Span }) => span,
    },
    context: { active: () => undefined, with: (span, run) => active.run(span, run) },
  };
  return { api, spans };
}

/** What a meter's instruments were made with, and what they recorded. */
function meterRecorder() {
  const instruments: Record<string, object> = {};
  const recorded: { name: string; value: number; attributes: Record<string, AttributeValue> }[] = [];
  const meter: MeterLike = {
    createHistogram(name, options) {
      instruments[name] = options;
      return { record: (value, attributes) => void recorded.push({ name, value, attributes }) };
    },
  };
  return { meter, instruments, recorded };
}

test("calls and attempts are spans, with conventional attributes and nothing secret", async () => {
  const { api, spans } = recorder();
  const stop = traceCalls(api);
  const usage = { prompt_tokens: 5, total_tokens: 7 };
  server.reply(
    inTurn(unavailable, { headers: { "x-request-id": "r-2" }, json: { model: "m-2", data: [], usage } }),
  );
  const body = { query: "a secret question", documents: ["a", "b"], model: "accounts/a/models/m" };
  await connect(server.url, { maxRetries: 1 }).rerank(body);
  stop();
  const [call, first, second] = spans;
  const address = {
    "http.request.method": "POST",
    "url.path": "/inference/v1/rerank",
    "server.address": "127.0.0.1",
    "server.port": Number(new URL(server.url).port),
  };
  const name = "rerank accounts/a/models/m";
  expect(call).toMatchObject({ name, kind: 2, parent: undefined, ended: true });
  expect(call?.attributes).toEqual({
    ...address,
    "tunerank.operation": "rerankDocuments",
    "tunerank.documents": 2,
    "gen_ai.operation.name": "rerank",
    "gen_ai.provider.name": "tunerank",
    "gen_ai.request.model": "accounts/a/models/m",
    "gen_ai.response.model": "m-2",
    "gen_ai.usage.input_tokens": 5,
    "tunerank.usage.total_tokens": 7,
    "tunerank.attempts": 2,
  });
  expect(call?.status).toBeUndefined();
  expect(first).toMatchObject({
    name: "POST",
    kind: 2,
    ended: true,
    status: { code: 2, message: "UNAVAILABLE" },
  });
  expect(first?.attributes).toEqual({
    ...address,
    "url.full": `${server.url}/inference/v1/rerank`,
    "http.response.status_code": 503,
    "error.type": "UNAVAILABLE",
  });
  expect(second?.attributes).toEqual({
    ...address,
    "url.full": `${server.url}/inference/v1/rerank`,
    "http.request.resend_count": 1,
    "http.response.status_code": 200,
    "tunerank.request_id": "r-2",
  });
  expect([first?.parent, second?.parent]).toEqual([call, call]);
  const told = JSON.stringify(spans.map(({ name, attributes, status }) => ({ name, attributes, status })));
  expect(told).not.toContain("secret question");
  expect(told).not.toContain(canaryKey);
});

test("a call that fails or is refused is a span with its code, and without what the service says", async () => {
  const { api, spans } = recorder();
  const stop = traceCalls(api);
  server.reply({ status: 404, json: { code: "NOT_FOUND", message: "No deployment of ada@example.com." } });
  const client = connect(server.url);
  await failureOf(() => client.deployments.scale("missing", 0));
  await failureOf(() => client.deployments.scale("a/b", 0));
  stop();
  const [call, attempt, refused] = spans;
  expect(call).toMatchObject({ name: "tunerank scaleDeployment", kind: 0 });
  for (const span of [call, refused]) expect(span?.attributes["tunerank.executed"]).toBe("no");
  expect(spans.map(({ attributes, status }) => [attributes["error.type"], status])).toEqual(
    ["NOT_FOUND", "NOT_FOUND", "INVALID_ARGUMENT"].map((code) => [code, { code: 2, message: code }]),
  );
  expect(attempt?.parent).toBe(call);
  expect(
    JSON.stringify(spans.map(({ name, attributes, status }) => [name, attributes, status])),
  ).not.toContain("ada@example.com");
  expect(Object.keys(call?.attributes ?? {}).filter((name) => name.startsWith("gen_ai."))).toEqual([]);
});

test("the URL of an attempt has neither query nor secrets, and its port is named where the URL has none", async () => {
  const { api, spans } = recorder();
  const stop = traceCalls(api);
  const request = { method: "GET", path: "/v1/accounts/acme/datasets", query: { sig: "a-secret" } } as const;
  await connect(server.url).request(request);
  // Nothing leaves: its fetch fails.
  const elsewhere = connect("https://api.example.com", {
    fetch: () => Promise.reject(new TypeError("down")),
  });
  await failureOf(() => elsewhere.request(request, { maxRetries: 0 }));
  stop();
  expect(server.requests[0]?.url).toContain("a-secret");
  const attempts = spans.filter(({ kind }) => kind === 2);
  expect(attempts.map(({ attributes }) => [attributes["url.full"], attributes["server.port"]])).toEqual([
    [`${server.url}/v1/accounts/acme/datasets`, Number(new URL(server.url).port)],
    ["https://api.example.com/v1/accounts/acme/datasets", 443],
  ]);
  expect(JSON.stringify(spans.map(({ attributes }) => attributes))).not.toContain("a-secret");
});

const rankedWith = (count: number, usage: object) => ({
  model: "m-2",
  usage,
  data: Array.from({ length: count }, (_, index) => ({ index, relevance_score: 1 - index / 10 })),
});

test("a meter gets the duration and the tokens of every rerank, once, and nothing of other calls", async () => {
  const { api, spans } = recorder();
  const { meter, instruments, recorded } = meterRecorder();
  const stop = traceCalls(api, { meter, provider: "acme", attempts: false });
  const client = connect(server.url, { rerankModel: "m-1", maxRetries: 0 });
  server.reply(({ body }) => {
    const { documents } = JSON.parse(`${body}`) as { documents: string[] };
    return { json: rankedWith(documents.length, { prompt_tokens: 5, total_tokens: 7 }) };
  });
  await client.rerank({ query: "q", documents: ["a"] });
  await client.rerank.items("q", ["a", "b", "c"], { text: (item) => item, batchSize: 2 });
  server.reply({ status: 404, json: { code: "NOT_FOUND", message: "No such model." } });
  await failureOf(() => client.rerank({ query: "q", documents: ["a"] }));
  server.reply({ json: {} });
  await client.deployments.scale("prod", 0);
  stop();
  await failureOf(() => client.rerank({ query: "q", documents: ["a"] }));
  expect(instruments).toMatchObject({
    "gen_ai.client.operation.duration": { unit: "s" },
    "tunerank.usage.input_tokens": { unit: "{token}" },
  });
  const common = {
    "gen_ai.operation.name": "rerank",
    "gen_ai.provider.name": "acme",
    "gen_ai.request.model": "m-1",
    "server.address": "127.0.0.1",
    "server.port": Number(new URL(server.url).port),
  };
  const ranked = { ...common, "gen_ai.response.model": "m-2" };
  const durations = recorded.filter(({ name }) => name === "gen_ai.client.operation.duration");
  const failed = { ...common, "error.type": "NOT_FOUND" };
  expect(durations.map(({ attributes }) => attributes)).toEqual([ranked, ranked, ranked, failed]);
  for (const { value } of durations) {
    expect(value).toBeGreaterThan(0);
    expect(value).toBeLessThan(10);
  }
  const tokens = { name: "tunerank.usage.input_tokens", value: 5 };
  const counted = { ...tokens, attributes: ranked };
  expect(recorded.filter(({ name }) => name === tokens.name)).toEqual([counted, counted, counted]);
  // Sums over spans are right too: what has batches leaves the tokens to them.
  const used = spans.map(({ attributes }) => attributes["gen_ai.usage.input_tokens"]);
  expect(used.filter((count) => count !== undefined)).toEqual([5, 5, 5]);
  const reranks = spans.filter(({ attributes }) => attributes["gen_ai.operation.name"] === "rerank");
  expect(reranks.map(({ attributes }) => attributes["gen_ai.provider.name"])).toEqual(Array(5).fill("acme"));
});

test("a response without usage counts no tokens", async () => {
  const { meter, recorded } = meterRecorder();
  const { api, spans } = recorder();
  const stop = traceCalls(api, { meter });
  server.reply({ json: rankedWith(1, { prompt_tokens: "5" }) });
  await connect(server.url).rerank({ query: "q", documents: ["a"] });
  stop();
  expect(spans[0]?.name).toBe("rerank");
  expect(recorded.map(({ name }) => name)).toEqual(["gen_ai.client.operation.duration"]);
});

test.each([
  [{ provider: "" }, "provider is empty."],
  [{ attempt: true }, "attempts"],
  [{ provider: 1 }, "provider must be a string."],
  [{ meter: {} }, "meter must have createHistogram, as OpenTelemetry's meters do."],
])("the options %j are refused, and nothing is traced", async (options, message) => {
  const { api, spans } = recorder();
  expect(thrownBy(() => traceCalls(api, options as never)).message).toContain(message);
  await connect(server.url).deployments.scale("prod", 0);
  expect(spans).toEqual([]);
});
