import { writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { generateChecks, generateContract } from "../../scripts/generate/contract.js";
import { type Document, readDocument, type Schema } from "../../scripts/generate/document.js";
import { shapesOf } from "../../scripts/generate/operations.js";
import { generateTypes } from "../../scripts/generate/types.js";
import { copyProject, root, temporaryFolder } from "../support/project.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { runScript } from "../support/script.js";

let copy: Awaited<ReturnType<typeof temporaryFolder>>;

beforeAll(async () => {
  copy = await temporaryFolder();
  await copyProject(copy.folder);
});
afterAll(() => copy.remove());

const server = useRecordingServer();

/** The contract with a change to the fields of a rerank. */
async function changed(change: (fields: Record<string, Schema>) => void): Promise<Document> {
  const document = await readDocument(path.join(root, "openapi.yaml"));
  change(document.components.schemas.RerankRequest?.properties ?? {});
  return document;
}

// A field that is added to the contract.
test("a new optional boolean of a rerank is typed, checked and sent once the contract has it", async () => {
  const document = await changed((fields) => {
    fields.new_flag = { type: "boolean", description: "Whether long documents are cut." };
  });
  const types = await generateTypes(document);
  expect(types).toContain("/** Whether long documents are cut. */\n    new_flag?: boolean | undefined;");
  await writeFile(
    path.join(copy.folder, "src/generated/contract.ts"),
    generateContract(document, shapesOf(document, "")),
  );
  const script = `
    import { createClient } from "./src/index.ts";
    const client = createClient({ baseUrl: process.env.URL, maxRetries: 0 });
    const { message } = await client.rerank({ query: "q", documents: ["d"], new_flag: "yes" }).catch((e) => e);
    console.log(message);
    await client.rerank({ query: "q", documents: ["d"], new_flag: true });
    await client.rerank.items("q", ["d"], { text: String, new_flag: false });
  `;
  server.reply({ json: { data: [{ index: 0, relevance_score: 1 }] } });
  expect(await runScript(script, { URL: server.url }, { project: copy.folder })).toEqual({
    exitCode: 0,
    stdout: "[INVALID_ARGUMENT] new_flag must be true or false when given.\n",
    stderr: "",
  });
  expect(server.requests.map(({ body }) => JSON.parse(body.toString()))).toEqual([
    { query: "q", documents: ["d"], new_flag: true },
    { query: "q", documents: ["d"], new_flag: false, return_documents: false },
  ]);
});

test("a rule of a request is loaded once the contract has it, and one that is left to the service never", async () => {
  const checksOf = async (rules: object): Promise<string> => {
    const document = await changed((fields) => {
      fields.top_n = { ...fields.top_n, ...rules };
    });
    return generateChecks(shapesOf(document, ""));
  };
  expect(await checksOf({})).toContain("place: Place) => void) | undefined = undefined;");
  expect(await checksOf({ enum: [1, 2], "x-open": true })).toBe(await checksOf({}));
  const some = await checksOf({ enum: [1, 2], maximum: 100 });
  expect(some).toContain('import { checkEach, enumeration, maximum } from "./ruleChecks.js";');
  expect(some).toContain("= checkEach({ enum: enumeration, maximum });");
});

test("a pattern without words or an example is refused, and it says what to do", async () => {
  const document = await changed((fields) => {
    fields.task = { ...fields.task, pattern: "^[a-z]+$" };
  });
  expect(() => shapesOf(document, "")).toThrow(
    'rerankDocuments.task has a pattern: its description must say "in the form `...`"',
  );
});
