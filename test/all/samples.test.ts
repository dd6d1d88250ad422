import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { root, run } from "../support/project.js";
import { useRecordingServer } from "../support/recordingServer.js";

// The reference's samples for curl and in Python; those in TypeScript are snippets of the guides.
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
    answer: { data: [{ index: 0, relevance_score: 0.9 }] },
    python: "0 0.9\n",
  },
  {
    name: "scale",
    sends: `PATCH ${account}/deployments/support-search:scale`,
    body: { replicaCount: 2 },
    answer: {},
    python: "200\n",
  },
  {
    name: "resume",
    sends: `POST ${account}/reinforcementFineTuningJobs/answer-quality:resume`,
    body: {},
    answer: { state: "JOB_STATE_RUNNING" },
    python: "JOB_STATE_RUNNING\n",
  },
  {
    name: "upload",
    sends: `POST ${account}/datasets/support-answers:upload`,
    body: undefined,
    answer: { filename: "train.jsonl" },
    python: "train.jsonl\n",
  },
];

const programs = { sh: "bash", py: "python3" };

describe("a sample of the reference", () => {
  for (const [extension, program] of Object.entries(programs)) {
    const missing = spawnSync(program, ["--version"]).error !== undefined;
    test.skipIf(missing).each(operations)(
      `$name with ${program} makes its request and reads the answer`,
      async ({ name, sends, body, answer, python }) => {
        server.reply({ json: answer });
        const env = {
          TUNERANK_BASE_URL: server.url,
          TUNERANK_API_KEY: "sample-key",
          TUNERANK_ACCOUNT_ID: "acme",
        };
        const { exitCode, stdout } = await run(
          program,
          [path.join(root, `docs/snippets/${name}.${extension}`)],
          { env },
        );
        expect({ exitCode, stdout }).toEqual({
          exitCode: 0,
          stdout: extension === "py" ? python : JSON.stringify(answer),
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
