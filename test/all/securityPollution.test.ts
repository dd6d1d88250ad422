import { expect, test } from "vitest";
import { type ReceivedRequest, useRecordingServer } from "../support/recordingServer.js";
import { runScript } from "../support/script.js";

const server = useRecordingServer();

// What options, requests, files and headers have, and what JSON and streams are asked for.
const names =
  "baseUrl apiKey accountId rerankModel connectTimeoutMs maxConnections agent userAgent fetch allowInsecureHttp " +
  "dangerouslyAllowBrowser timeoutMs attemptTimeoutMs maxRetries idempotent onAttempt headers signal proxy " +
  "name size contentType onProgress verifyBytes maxResponseBytes TUNERANK_ACCOUNT_ID TUNERANK_RERANK_MODEL " +
  "query model documents top_n task return_documents replicaCount account_id job_id path params method body " +
  "minimum maximum minItems maxItems required items properties pattern additionalProperties type " +
  "authorization host accept user-agent content-type content-length connection x-polluted toJSON length href blob";

// Node itself reads these from objects that it makes: every use of Node's own transport then fails.
const readByNode: Readonly<Record<string, string>> = {
  "node:http": "signal",
  fetch: "signal query body required",
};

const script = `
  import { createReadStream } from "node:fs";
  import { createClient } from "./src/index.ts";
  import { operationCalls } from "./test/support/clients.ts";
  const own = process.env.TRANSPORT === "fetch" ? { fetch } : {};
  const client = (tag) => createClient(
    { baseUrl: process.env.URL, accountId: "acme", maxRetries: 0, ...own, headers: { "x-tag": tag } });
  const upload = (client, file) => client.datasets.upload("reviews", file, { name: "f" });
  // Node itself reads members of what it makes streams of: this one is made before.
  const callsOf = () => {
    const files = ["package.json", createReadStream("package.json")];
    return [
      ...operationCalls.map(({ call }) => call),
      ...files.map((file) => (client) => upload(client, file)),
      (client) => client.rerank.items("q", ["a", "b"], { text: String }),
    ];
  };
  const callAll = async (tag, calls) => {
    for (const call of calls) await (async () => call(client(tag)))().catch(() => {});
  };
  await callAll("clean", callsOf());
  for (const name of process.env.NAMES.split(" "))
    for (const value of ["polluted", () => "polluted", 1]) {
      const calls = callsOf();
      Object.prototype[name] = value;
      await callAll(name + " " + typeof value, calls);
      delete Object.prototype[name];
    }
`;

/** All of a request but the tag and the boundary, which is another each time. */
function written({ method, url, headers, body }: ReceivedRequest): string {
  const { "x-tag": _, ...others } = headers;
  const boundary = /boundary=(\S+)/.exec(headers["content-type"] ?? "")?.[1] ?? "";
  return JSON.stringify([method, url, others, body.toString()]).replaceAll(boundary || "\0", "boundary");
}

test.each(["node:http", "fetch"])(
  "over %s nothing on Object.prototype changes a request",
  async (transport) => {
    const asked = names.split(" ").filter((name) => !readByNode[transport]?.split(" ").includes(name));
    const env = { URL: server.url, TRANSPORT: transport, NAMES: asked.join(" ") };
    expect(await runScript(script, env)).toMatchObject({ exitCode: 0, stdout: "", stderr: "" });
    const sent: Record<string, string[]> = {};
    for (const request of server.requests) {
      const tag = `${request.headers["x-tag"]}`;
      sent[tag] = [...(sent[tag] ?? []), written(request)];
    }
    const { clean, ...polluted } = sent;
    expect(clean?.length).toBeGreaterThan(6);
    expect(Object.keys(polluted)).toHaveLength(3 * asked.length);
    for (const [tag, requests] of Object.entries(polluted)) expect(requests, tag).toEqual(clean);
  },
);
