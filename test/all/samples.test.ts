import { spawnSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { program as commandLine } from "../support/commandLine.js";
import { savedBlock } from "../support/guideBlocks.js";
import { root, run, temporaryFolder } from "../support/project.js";
import { useRecordingServer } from "../support/recordingServer.js";

// The reference's samples for curl and in Python; those in TypeScript are run by test/docs/guideBlocks.test.ts.
const server = useRecordingServer();
const train = await readFile(path.join(root, "examples/train.jsonl"));
const account = "/v1/accounts/acme";
const query = "I forgot my password";
const documents = ["Choose Reset on the sign-in page.", "Invoices are PDF files."];

const operations = [
  {
    name: "rerank",
    sends: "POST /inference/v1/rerank",
    body: { query, documents, top_n: 1 },
    response: { data: [{ index: 0, relevance_score: 0.9 }] },
    python: "0 0.9\n",
  },
  {
    name: "scale",
    sends: `PATCH ${account}/deployments/support-search:scale`,
    body: { replicaCount: 2 },
    response: {},
    python: "200\n",
  },
  {
    name: "resume",
    sends: `POST ${account}/reinforcementFineTuningJobs/answer-quality:resume`,
    body: {},
    response: { state: "JOB_STATE_RUNNING" },
    python: "JOB_STATE_RUNNING\n",
  },
  {
    name: "upload",
    sends: `POST ${account}/datasets/support-answers:upload`,
    body: undefined,
    response: { filename: "train.jsonl" },
    python: "train.jsonl\n",
  },
];

const programs = { sh: ["bash", "curl"], py: ["python3"] };
const missing = (program: string) => spawnSync(program, ["--version"]).error !== undefined;
const environment = (baseUrl: string) => ({
  TUNERANK_BASE_URL: baseUrl,
  TUNERANK_API_KEY: "sample-key",
  TUNERANK_ACCOUNT_ID: "acme",
});

describe("a sample of the reference", () => {
  for (const [extension, [program = "", ...others]] of Object.entries(programs)) {
    test.skipIf([program, ...others].some(missing)).each(operations)(
      `$name with ${program} makes its request and reads the response`,
      async ({ name, sends, body, response, python }) => {
        server.reply({ json: response });
        const file = savedBlock(`${name}.${extension}`);
        const { exitCode, stdout } = await run(program, [file], {
          cwd: path.dirname(file),
          env: environment(server.url),
        });
        expect({ exitCode, stdout }).toEqual({
          exitCode: 0,
          stdout: extension === "py" ? python : JSON.stringify(response),
        });
        const [request] = server.requests;
        expect(server.requests.length).toBe(1);
        expect(`${request?.method} ${request?.url}`).toBe(sends);
        expect(request?.headers.authorization).toBe("Bearer sample-key");
        if (body === undefined) {
          expect(request?.files).toMatchObject([{ part: "file", filename: "train.jsonl", bytes: train }]);
        } else {
          expect(request?.headers["content-type"]).toBe("application/json");
          expect(JSON.parse(`${request?.body}`)).toEqual(body);
        }
      },
    );
  }
});

describe.skipIf(programs.sh.some(missing))("a snippet for the shell", () => {
  test("request.sh sends what the guide says", async () => {
    const { folder: temporary, remove } = await temporaryFolder();
    const command = path.join(temporary, "tunerank");
    await writeFile(command, `#!/bin/sh\nexec '${process.execPath}' '${commandLine}' "$@"\n`, {
      mode: 0o755,
    });
    server.reply({ json: {} });
    const env = { ...environment(server.url), PATH: `${temporary}:${process.env.PATH}` };
    expect(await run("bash", ["-e", savedBlock("request.sh")], { env })).toMatchObject({
      exitCode: 0,
    });
    expect(server.requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
      "GET /v1/accounts/acme/datasets/support-answers",
      "POST /v1/accounts/acme/notes/first%20draft:touch",
      "PATCH /v1/accounts/acme/deployments/support-search:scale",
    ]);
    expect(`${server.requests[1]?.body}`).toBe('{"by": "me"}');
    expect(`${server.requests[2]?.body}`).toBe('{"replicaCount": 2}');
    await remove();
  });

  test("curl.sh calls all four operations", async () => {
    server.reply({ json: {} });
    const env = environment(server.url);
    const file = savedBlock("curl.sh");
    const { exitCode, stdout } = await run("bash", ["-e", file], { cwd: path.dirname(file), env });
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "{}{}{}{}" });
    const sent = server.requests.map(({ method, url }) => `${method} ${url}`);
    expect(sent).toEqual(operations.map(({ sends }) => sends));
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(
      Array(4).fill("Bearer sample-key"),
    );
    expect(server.requests[3]?.files).toMatchObject([{ part: "file", bytes: train }]);
  });
});
