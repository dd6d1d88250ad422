import { AsyncLocalStorage } from "node:async_hooks";
import { expect, test } from "vitest";
import { type AttributeValue, type OpenTelemetryApi, traceCalls } from "../../src/adapters/opentelemetry.js";
import { inTurn, unavailable } from "../support/answers.js";
import { useNoBackoff } from "../support/backoff.js";
import { canaryKey } from "../support/canary.js";
import { connect, failureOf, thrownBy } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";

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
  expect(call).toMatchObject({ name: "tunerank rerankDocuments", parent: undefined, ended: true });
  expect(call?.attributes).toEqual({
    ...address,
    "tunerank.operation": "rerankDocuments",
    "tunerank.documents": 2,
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
    "http.response.status_code": 503,
    "error.type": "UNAVAILABLE",
  });
  expect(second?.attributes).toEqual({
    ...address,
    "http.request.resend_count": 1,
    "http.response.status_code": 200,
    "tunerank.request_id": "r-2",
  });
  expect([first?.parent, second?.parent]).toEqual([call, call]);
  const told = JSON.stringify(spans.map(({ name, attributes, status }) => ({ name, attributes, status })));
  expect(told).not.toContain("secret question");
  expect(told).not.toContain(canaryKey);
});

test("a call that fails or is refused is a span with its code", async () => {
  const { api, spans } = recorder();
  const stop = traceCalls(api, { attempts: false });
  server.reply({ status: 404, json: { code: "NOT_FOUND", message: "No such deployment." } });
  const client = connect(server.url);
  await failureOf(() => client.deployments.scale("missing", 0));
  await failureOf(() => client.deployments.scale("a/b", 0));
  stop();
  expect(spans.map(({ attributes }) => [attributes["error.type"], attributes["tunerank.executed"]])).toEqual([
    ["NOT_FOUND", "no"],
    ["INVALID_ARGUMENT", "no"],
  ]);
  expect(spans[0]?.status?.message).toMatch(/^\[NOT_FOUND\] No such deployment\./);
});

test("nothing is traced once it has been stopped", async () => {
  const { api, spans } = recorder();
  traceCalls(api)();
  await connect(server.url).deployments.scale("prod", 0);
  expect(spans).toEqual([]);
  expect(thrownBy(() => traceCalls(api, { attempt: true } as never)).message).toContain("attempts");
});
