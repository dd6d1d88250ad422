import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { type CallToolResult, Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { server as mock, service } from "./support/service.ts";

const program = fileURLToPath(new URL("node_modules/tunerank/dist/cli/main.js", import.meta.url));
const key = "canary-key-of-the-mcp-server";
const root = realpathSync(mkdtempSync(path.join(tmpdir(), "tunerank-mcp-")));
const outside = path.join(root, "../tunerank-mcp-outside.jsonl");
writeFileSync(path.join(root, "train.jsonl"), "{}\n");
writeFileSync(outside, "secret\n");
symlinkSync(outside, path.join(root, "link.jsonl"));
execFileSync("mkfifo", [path.join(root, "pipe.jsonl")]);
after(() => {
  rmSync(root, { recursive: true });
  rmSync(outside);
});

type Answer = "accept" | "decline" | "cancel";

interface Connection {
  readonly client: Client;
  readonly pid: number;
  /** The questions that the person saw. */
  readonly questions: string[];
  call(name: string, given: Record<string, unknown>, signal?: AbortSignal): Promise<CallToolResult>;
  /** What the server said, and wrote to stderr. */
  said(): string;
}

const eras = {
  "2026-07-28": { mode: { pin: "2026-07-28" } },
  "the 2025 handshake": { mode: "legacy" },
} as const;

interface Settings {
  readonly answer?: Answer;
  readonly args?: readonly string[];
  readonly baseUrl?: string;
  readonly nodeArgs?: readonly string[];
}

/** Starts the packed command as a client does. @param answer What the person answers; without it nobody can be asked */
async function connect(
  scope: { after(end: () => unknown): void },
  versionNegotiation: (typeof eras)[keyof typeof eras],
  { answer, args = ["--tools", "all", "--root", root], baseUrl = mock.url, nodeArgs = [] }: Settings = {},
): Promise<Connection> {
  const capabilities = answer === undefined ? {} : { elicitation: { form: {} } };
  const client = new Client({ name: "check", version: "1.0.0" }, { capabilities, versionNegotiation });
  const questions: string[] = [];
  let heard = "";
  if (answer !== undefined)
    client.setRequestHandler("elicitation/create", ({ params }) => {
      questions.push(params.message);
      return answer === "accept" ? { action: answer, content: {} } : { action: answer };
    });
  const env = {
    PATH: `${process.env.PATH}`,
    TUNERANK_BASE_URL: baseUrl,
    TUNERANK_API_KEY: key,
    TUNERANK_ACCOUNT_ID: "acme",
    TUNERANK_LOG: "debug",
  };
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [...nodeArgs, program, "mcp", ...args],
    env,
    stderr: "pipe",
  });
  transport.stderr?.on("data", (chunk) => {
    heard += chunk;
  });
  await client.connect(transport);
  scope.after(() => client.close());
  return {
    client,
    pid: transport.pid as number,
    questions,
    async call(name, given, signal) {
      const result = await client.callTool({ name, arguments: given }, { ...(signal && { signal }) });
      heard += JSON.stringify(result);
      return result as CallToolResult;
    },
    said: () => heard,
  };
}

function errorOf({ isError, content }: CallToolResult): Record<string, unknown> {
  assert.equal(isError, true);
  const [first] = content;
  assert.equal(first?.type, "text");
  return JSON.parse(first.text);
}

const isRunning = (pid: number): boolean => {
  try {
    // A process that has ended and was not waited for is a zombie.
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
};

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 10));
}

/** A service that never responds. */
async function silentService(scope: { after(end: () => unknown): void }) {
  const state = { requests: 0, aborted: 0, url: "" };
  const server = createServer((request) => {
    state.requests += 1;
    request.socket.once("close", () => {
      state.aborted += 1;
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  scope.after(() => server.closeAllConnections());
  scope.after(() => server.close());
  return state;
}

const paths = () => service.requests.map(({ operation }) => operation);

for (const [era, negotiation] of Object.entries(eras)) {
  describe(`MCP, ${era}`, () => {
    test("offers rerank alone, unless more are named", async (scope) => {
      const { client } = await connect(scope, negotiation, { args: [] });
      const { tools } = await client.listTools();
      assert.deepEqual(
        tools.map(({ name }) => name),
        ["rerank"],
      );
      const all = await connect(scope, negotiation);
      const listed = (await all.client.listTools()).tools;
      const hints = listed.map(({ name, annotations: of }) => [
        name,
        of?.readOnlyHint,
        of?.destructiveHint,
        of?.idempotentHint,
        of?.openWorldHint,
      ]);
      assert.deepEqual(hints, [
        ["resume", false, true, false, true],
        ["rerank", true, false, true, true],
        ["scale", false, true, true, true],
        ["upload", false, false, false, true],
      ]);
      assert.ok(JSON.stringify(listed).length < 8_000, `${JSON.stringify(listed).length} bytes of tools`);
      const without = await connect(scope, negotiation, { args: ["--tools", "all"] });
      assert.deepEqual(
        (await without.client.listTools()).tools.map(({ name }) => name),
        ["resume", "rerank", "scale"],
      );
    });

    test("ranks, and its structured result fits its schema", async (scope) => {
      const { client, call, questions } = await connect(scope, negotiation, { answer: "accept" });
      await client.listTools();
      const { structuredContent } = await call("rerank", {
        query: "Paris",
        documents: ["Rome.", "Paris."],
        top_n: 1,
      });
      assert.deepEqual((structuredContent as { data: unknown }).data, [
        { index: 1, relevance_score: 1, document: "Paris." },
      ]);
      assert.deepEqual(questions, []);
    });

    test("asks before it scales, resumes and uploads, with the values, and then does it", async (scope) => {
      const { client, call, questions } = await connect(scope, negotiation, { answer: "accept" });
      await client.listTools();
      await call("scale", { deployment_id: "prod\u202e", replicaCount: 2 });
      await call("scale", { deployment_id: "prod", replicaCount: 2 });
      await call("upload", { dataset_id: "reviews", file: "train.jsonl" });
      await call("resume", { reinforcement_fine_tuning_job_id: "answer-quality" });
      assert.deepEqual(paths(), ["scale", "scale", "upload", "resume"]);
      assert.equal(questions[0], 'Scale a deployment?\ndeployment_id: "prod\\u{202e}"\nreplicaCount: 2');
      assert.match(questions[2] ?? "", new RegExp(`^file: "${root}/train.jsonl \\(3 bytes, of `, "m"));
      assert.equal(questions.length, 4);
    });

    for (const answer of ["decline", "cancel", undefined] as const)
      test(`sends nothing if the person's answer is ${answer}`, async (scope) => {
        const { call, said } = await connect(scope, negotiation, { ...(answer && { answer }) });
        for (const [name, given] of [
          ["scale", { deployment_id: "it's", replicaCount: 2 }],
          ["resume", { reinforcement_fine_tuning_job_id: "answer-quality" }],
          ["upload", { dataset_id: "reviews", file: "train.jsonl" }],
        ] as const) {
          const error = errorOf(await call(name, given));
          assert.equal(error.executed, "no");
          assert.equal(error.notRetried, "refused");
        }
        assert.deepEqual(service.requests, []);
        if (answer === undefined)
          assert.match(said(), /tunerank request 'scaleDeployment' '--param' 'deployment_id=it'/);
      });

    test("refuses files elsewhere, unknown arguments and tools, and asks nobody", async (scope) => {
      const { call, questions } = await connect(scope, negotiation, { answer: "accept" });
      const files = [
        "link.jsonl",
        outside,
        "../tunerank-mcp-outside.jsonl",
        "pipe.jsonl",
        ".",
        "absent.jsonl",
        "",
        "/dev/null",
      ];
      const told = new Set<unknown>();
      for (const file of files)
        told.add(errorOf(await call("upload", { dataset_id: "reviews", file })).message);
      // Whether a file outside exists is not told.
      assert.equal(told.size, 1);
      errorOf(await call("scale", { deployment_id: "prod", replicaCount: 2, account_id: "other" }));
      errorOf(await call("request", { method: "DELETE" }));
      assert.deepEqual(questions, []);
      assert.deepEqual(service.requests, []);
    });

    test("an error has what a model decides by, and a lost resume is unknown and not sent again", async (scope) => {
      const { call, said } = await connect(scope, negotiation, { answer: "accept" });
      service.fail("resume", { reset: true });
      const lost = errorOf(await call("resume", { reinforcement_fine_tuning_job_id: "answer-quality" }));
      assert.deepEqual([lost.code, lost.executed, lost.notRetried], ["UNAVAILABLE", "unknown", "not-safe"]);
      assert.match(`${lost.whenUnknown}`, /^The job may have been resumed/);
      assert.equal(service.requests.length, 1);
      service.fail("rerank", { status: 429, retryAfter: 90 });
      const limited = errorOf(await call("rerank", { query: "q", documents: [`${key} in a document`] }));
      assert.deepEqual(
        [limited.code, limited.executed, limited.retryAfterMs],
        ["RESOURCE_EXHAUSTED", "no", 90_000],
      );
      assert.match(`${limited.requestId}`, /^req-/);
      const { structuredContent } = await call("rerank", { query: "q", documents: [`${key} in a document`] });
      assert.match(JSON.stringify(structuredContent), /in a document/);
      assert.ok(!said().includes(key));
    });

    test("cancelling the tool's call aborts the request", async (scope) => {
      const silent = await silentService(scope);
      const { call } = await connect(scope, negotiation, { baseUrl: silent.url });
      const controller = new AbortController();
      const called = call("rerank", { query: "q", documents: ["a"] }, controller.signal);
      await until(() => silent.requests === 1);
      controller.abort();
      await assert.rejects(called);
      await until(() => silent.aborted === 1);
    });
  });
}

test("the server ends with its client, even while a request is in flight", async (scope) => {
  const silent = await silentService(scope);
  const source = `
    import { spawn } from "node:child_process";
    const server = spawn(process.execPath, [${JSON.stringify(program)}, "mcp"], { stdio: ["pipe", "pipe", "inherit"] });
    const send = (message) => server.stdin.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
    const clientInfo = { name: "check", version: "1" };
    send({ id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo } });
    server.stdout.once("data", () => {
      send({ method: "notifications/initialized" });
      send({ id: 2, method: "tools/call", params: { name: "rerank", arguments: { query: "q", documents: ["a"] } } });
    });
    console.log(server.pid);`;
  const { spawn } = await import("node:child_process");
  const env = { PATH: process.env.PATH, TUNERANK_BASE_URL: silent.url, TUNERANK_API_KEY: key };
  const client = spawn(process.execPath, ["--input-type=module", "-e", source], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [printed] = await once(client.stdout, "data");
  const pid = Number(printed);
  await until(() => silent.requests === 1);
  assert.ok(isRunning(pid));
  client.kill("SIGKILL");
  await until(() => !isRunning(pid) && silent.aborted === 1);
});

test("1,000 calls leave nothing behind", async (scope) => {
  // With little room for garbage, what grows is what is kept.
  const nodeArgs = ["--max-semi-space-size=1", "--max-old-space-size=40"];
  const { call, pid } = await connect(scope, eras["2026-07-28"], { answer: "accept", nodeArgs });
  const kilobytes = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
  const handles = () =>
    Number(execFileSync("sh", ["-c", `ls /proc/${pid}/fd | wc -l`], { encoding: "utf8" }));
  const calls = async (count: number) => {
    for (let n = 0; n < count; n++) {
      await call("rerank", { query: "q", documents: [`document ${n}`] });
      if (n % 10 === 0) await call("upload", { dataset_id: "reviews", file: "train.jsonl" });
    }
  };
  await calls(500);
  const [before, open] = [kilobytes(), handles()];
  await calls(1_000);
  assert.ok(kilobytes() - before < 5_000, `grew from ${before} to ${kilobytes()} kB`);
  assert.ok(handles() <= open + 1, `${open} handles became ${handles()}`);
});
