import { beforeEach, describe, expect, test } from "vitest";
import { canaryKey } from "../support/canary.js";
import { operationCalls } from "../support/clients.js";
import { useContractMocks } from "../support/contractMocks.js";

// What this client would refuse itself, or never leaves out: sent by hand, so that the contract speaks.
const mocks = await useContractMocks();
const authorization = `Bearer ${canaryKey}`;

interface Raw {
  readonly method: string;
  readonly path: string;
  readonly body: string | FormData;
}

function form(part: string): FormData {
  const data = new FormData();
  data.append(part, new Blob(['{"text":"good"}\n']), "train.jsonl");
  return data;
}

const right: Readonly<Record<string, string | FormData>> = {
  resumeReinforcementFineTuningJob: "{}",
  rerankDocuments: '{"query":"q","documents":["d"]}',
  scaleDeployment: '{"replicaCount":2}',
  uploadDatasetFile: form("file"),
};

const rerank = { method: "POST", path: "/inference/v1/rerank" };
const scale = { method: "PATCH", path: "/v1/accounts/acme/deployments/prod:scale" };
const resume = { method: "POST", path: "/v1/accounts/acme/reinforcementFineTuningJobs/job-1:resume" };
const upload = { method: "POST", path: "/v1/accounts/acme/datasets/reviews:upload" };

describe.each(mocks)("$name", (mock) => {
  beforeEach(() => mock.reset());

  async function statusOf({ method, path, body }: Raw, headers: Record<string, string>): Promise<number> {
    const type = typeof body === "string" ? { "content-type": "application/json" } : undefined;
    const answer = await fetch(mock.url + path, { method, body, headers: { ...type, ...headers } });
    await answer.arrayBuffer();
    return answer.status;
  }

  test.each(operationCalls)(
    "$operation without a key is refused with 401",
    async ({ operation, method, path }) => {
      const raw = { method, path, body: right[operation] as string };
      expect(await statusOf(raw, {})).toBe(401);
      expect(await statusOf(raw, { authorization })).toBe(200);
    },
  );

  test.each([
    ["a rerank without documents", { ...rerank, body: '{"query":"q"}' }],
    ["a rerank without a query", { ...rerank, body: '{"documents":["d"]}' }],
    ["a rerank of no documents", { ...rerank, body: '{"query":"q","documents":[]}' }],
    ["a rerank of documents that are no strings", { ...rerank, body: '{"query":"q","documents":[1]}' }],
    ["a rerank with top_n 0", { ...rerank, body: '{"query":"q","documents":["d"],"top_n":0}' }],
    ["a rerank with a fractional top_n", { ...rerank, body: '{"query":"q","documents":["d"],"top_n":1.5}' }],
    ["a rerank with an ill-formed model", { ...rerank, body: '{"query":"q","documents":["d"],"model":"m"}' }],
    ["a scale without replicaCount", { ...scale, body: "{}" }],
    ["a scale to -1", { ...scale, body: '{"replicaCount":-1}' }],
    ["a scale to a string", { ...scale, body: '{"replicaCount":"2"}' }],
    ["a resume with a field", { ...resume, body: '{"state":"JOB_STATE_RUNNING"}' }],
    ["an upload whose part has another name", { ...upload, body: form("data") }],
  ])("the contract refuses %s with 400", async (_name, raw) => {
    expect(await statusOf(raw, { authorization })).toBe(400);
  });

  test("the verb of a path is literal: an encoded colon is another path", async () => {
    const headers = { authorization };
    expect(await statusOf({ ...resume, body: "{}" }, headers)).toBe(200);
    expect(
      await statusOf({ ...resume, path: resume.path.replace(":resume", "%3Aresume"), body: "{}" }, headers),
    ).not.toBe(200);
  });
});
