import assert from "node:assert/strict";
import { after, afterEach, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { type AttemptEvent, type ClientOptions, createClient } from "tunerank";

const baseUrl = "https://service.test";
export const everything = `${baseUrl}/*`;

type Respond = (request: Request) => Response | Promise<Response>;
interface Interception {
  listen(): void;
  close(): void;
}

// MSW connects node:http only when there is a response: what never connected was never carried out.
const transports = [
  { transport: "node:http", options: {}, stalled: "no" },
  {
    transport: "fetch",
    options: { fetch: (url: string, init: never) => fetch(url, init) },
    stalled: "unknown",
  },
];

/** What users of MSW expect, whichever way the client sends. */
export function describeMsw(version: string, create: (respond: Respond) => Interception): void {
  let respond: Respond = () => Response.json({});
  let requests: { method: string; path: string; key: string | null; text: string }[] = [];
  const record: Respond = async (request) => {
    const copy = request.clone();
    const response = await respond(request);
    const { pathname } = new URL(copy.url);
    const key = copy.headers.get("authorization");
    requests.push({ method: copy.method, path: pathname, key, text: await copy.text() });
    return response;
  };
  const server = create(record);
  before(() => server.listen());
  after(() => server.close());
  afterEach(() => {
    requests = [];
  });

  for (const { transport, options, stalled } of transports) {
    const connect = (more: ClientOptions = {}) =>
      createClient({ baseUrl, apiKey: "test-key", accountId: "acme", ...options, ...more });

    describe(`${version} and ${transport}`, () => {
      test("rerank is sent whole and gets its response", async () => {
        respond = () =>
          Response.json({ data: [{ index: 1, relevance_score: 0.5 }] }, { headers: { "x-request-id": "r" } });
        const response = await connect()
          .rerank({ query: "q", documents: ["a", "é"] })
          .withResponse();
        assert.deepEqual(response.data.data, [{ index: 1, relevance_score: 0.5 }]);
        assert.equal(response.requestId, "r");
        const text = JSON.stringify({ query: "q", documents: ["a", "é"] });
        assert.deepEqual(requests, [
          { method: "POST", path: "/inference/v1/rerank", key: "Bearer test-key", text },
        ]);
      });

      test("an error status is the client's error, and repeated as ever", async () => {
        respond = () =>
          Response.json({ code: "UNAVAILABLE" }, { status: 503, headers: { "retry-after-ms": "1" } });
        const events: AttemptEvent[] = [];
        const call = connect({ onAttempt: (event) => events.push(event) }).deployments.scale("prod", 0);
        await assert.rejects(call, { name: "StatusError", code: "UNAVAILABLE", httpStatus: 503 });
        assert.deepEqual(
          requests.map(({ method, path }) => [method, path]),
          Array(3).fill(["PATCH", "/v1/accounts/acme/deployments/prod:scale"]),
        );
        assert.deepEqual(
          events.map(({ httpStatus }) => httpStatus),
          [503, 503, 503],
        );
      });

      test("an upload's file can be read", async () => {
        const name = "train.jsonl";
        const content = "{}\n".repeat(100_000);
        let file: File | undefined;
        respond = async (request) => {
          file = (await request.formData()).get("file") as File;
          return Response.json({ id: "file-1", bytes: file.size });
        };
        const stored = await connect().datasets.upload("reviews", new Blob([content]), { name });
        assert.equal(stored.bytes, content.length);
        assert.equal(file?.name, name);
        assert.equal(await file?.text(), content);
      });

      test("an upload whose file nobody reads gets a response", async () => {
        respond = () => Response.json({ id: "file-1" });
        for (const file of [new Uint8Array(5_000_000), new Blob([new Uint8Array(5_000_000)])]) {
          const stored = await connect().datasets.upload("reviews", file, { name: "train.jsonl" });
          assert.equal(stored.id, "file-1");
        }
      });

      test("a file from disk can be read", async () => {
        const path = fileURLToPath(new URL("../package.json", import.meta.url));
        respond = async (request) =>
          Response.json({ id: "file-1", bytes: ((await request.formData()).get("file") as File).size });
        const { bytes } = await connect().datasets.upload("reviews", path, { verifyBytes: true });
        assert.ok((bytes ?? 0) > 100);
      });

      test("a response that never comes ends with the call's deadline", async () => {
        respond = () => new Promise(() => {});
        const call = connect({ timeoutMs: 100 }).deployments.scale("prod", 0);
        await assert.rejects(call, { code: "DEADLINE_EXCEEDED", executed: stalled });
      });

      test("Response.error() is a lost connection", async () => {
        respond = () => Response.error();
        const call = connect({ maxRetries: 0 }).deployments.scale("prod", 0);
        await assert.rejects(call, { name: "StatusError", code: "UNAVAILABLE" });
      });
    });
  }
}
