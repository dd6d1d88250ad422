import { once } from "node:events";
import http from "node:http";
import { text } from "node:stream/consumers";
import { expect, inject, test } from "vitest";
import { canaryKey } from "../support/canary.js";
import { contract, contractOperations } from "../support/contract.js";

const mockUrl = inject("mockUrl");
const authorization = `Bearer ${canaryKey}`;
const accepts = { "application/json": "application/json", "*/*": "*/*", none: undefined } as const;

const examples = contractOperations.flatMap(({ method, path, operation }) =>
  Object.entries(operation.responses)
    .filter(([status]) => status !== "default")
    .flatMap(([status, { $ref, content }]) => {
      const shared = contract.components.responses[$ref?.split("/").pop() ?? ""];
      const named = (content ?? shared?.content)?.["application/json"]?.examples ?? {};
      return Object.entries(named).map(([name, { value }]) => ({
        title: `${operation.operationId} ${status} ${name}`,
        request: { method, path: path.replaceAll(/\{\w+\}/g, "acme"), operationId: operation.operationId },
        status: Number(status),
        name,
        value,
      }));
    }),
);

function bodyOf(operationId: string): string | FormData {
  if (operationId === "rerankDocuments") return '{"query":"q","documents":["d"]}';
  if (operationId === "scaleDeployment") return '{"replicaCount":2}';
  return operationId === "uploadDatasetFile" ? form("text/plain") : "{}";
}

function form(type: string): FormData {
  const data = new FormData();
  data.append("file", new Blob(["{}\n"], { type }), "train.jsonl");
  return data;
}

interface Answer {
  readonly status: number | undefined;
  readonly type: string | undefined;
  readonly text: string;
}

// Over node:http: fetch always sends an Accept header.
async function ask(
  { method, path, operationId }: (typeof examples)[number]["request"],
  headers: Record<string, string | undefined>,
  body: string | FormData = bodyOf(operationId),
): Promise<Answer> {
  const form = new Response(body);
  const type = typeof body === "string" ? "application/json" : form.headers.get("content-type");
  const given = Object.entries({ authorization, "content-type": type ?? "", ...headers });
  const sent = Object.fromEntries(given.filter(([, value]) => value !== undefined && value !== ""));
  const request = http.request(mockUrl + path, { method, headers: sent });
  request.end(Buffer.from(await form.arrayBuffer()));
  const [answer] = (await once(request, "response")) as [http.IncomingMessage];
  return { status: answer.statusCode, type: answer.headers["content-type"], text: await text(answer) };
}

test("every example of every answer is asked for", () => {
  expect(examples).toHaveLength(4 * 16 + 3 + 1 + 1 + 1);
});

test.each(Object.entries(accepts))(
  "the mock answers with every named example, Accept %s",
  async (_name, accept) => {
    for (const { title, request, status, name, value } of examples) {
      const answer = await ask(request, { accept, prefer: `code=${status}, example=${name}` });
      expect({ title, status: answer.status, body: JSON.parse(answer.text) }).toEqual({
        title,
        status,
        body: value,
      });
    }
  },
);

test.each(Object.entries(accepts))(
  "the mock answers with every status alone, Accept %s",
  async (_name, accept) => {
    for (const status of new Set(examples.map((each) => each.status))) {
      const [first] = examples.filter((each) => each.status === status);
      if (first === undefined) continue;
      const answer = await ask(first.request, { accept, prefer: `code=${status}` });
      expect({ status: answer.status, body: JSON.parse(answer.text) }).toEqual({ status, body: first.value });
    }
  },
);

test.each(Object.entries(accepts))(
  "a wrong body is 400 and a missing key 401, Accept %s",
  async (_name, accept) => {
    const [rerank] = examples.filter(({ request }) => request.operationId === "rerankDocuments");
    if (rerank === undefined) throw new Error("The contract has no rerank.");
    expect((await ask(rerank.request, { accept }, "{}")).status).toBe(400);
    expect((await ask(rerank.request, { accept, authorization: "" })).status).toBe(401);
  },
);

test.each(["text/html", "text/plain"])("a proxy's %s can be asked for", async (accept) => {
  const [rerank] = examples.filter(({ request }) => request.operationId === "rerankDocuments");
  if (rerank === undefined) throw new Error("The contract has no rerank.");
  const answer = await ask(rerank.request, { accept, prefer: "code=503" });
  expect(answer.status).toBe(503);
  expect(answer.type).toContain(accept);
});

test.each([
  "application/octet-stream",
  "text/plain",
  "application/jsonl",
  "text/csv",
  "application/x-made-up",
])("the mock takes a file that its caller calls %s", async (type) => {
  const [upload] = examples.filter(({ request }) => request.operationId === "uploadDatasetFile");
  if (upload === undefined) throw new Error("The contract has no upload.");
  expect((await ask(upload.request, {}, form(type))).status).toBe(200);
});
