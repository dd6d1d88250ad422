import { writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { generateChecks, generateContract } from "../../scripts/generate/contract.js";
import { type Document, readDocument, type Schema } from "../../scripts/generate/document.js";
import { shapesOf } from "../../scripts/generate/operations.js";
import { maxLength, minLength } from "../../scripts/generate/ruleChecks.js";
import { generateTypes } from "../../scripts/generate/types.js";
import { thrownBy } from "../support/clients.js";
import { copyProject, root, temporaryFolder } from "../support/project.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { runScript } from "../support/script.js";

const good = 'responses: { "200": { $ref: "#/components/responses/Thing" } }';
const schema = 'schema: { $ref: "#/components/schemas/Status" }';
const examples = "examples: { a: { value: {} } }";

/** The beginning of an operation; what follows is not supported, or the response if there is none. */
const operation = (
  id: string,
  { method = "get", path = `/v1/${id}`, retry = "read", responses = good } = {},
) => `
  ${path}:
    ${method}:
      operationId: ${id}
      x-sdk-method: things.${id}
      x-retry: ${retry}
      x-timeout-ms: 1000
      x-max-response-bytes: 1024
      summary: Get a thing
      description: Gets a thing.
      tags: [Datasets]
      ${responses}`;
const post = (id: string, retry?: string) => `${operation(id, { method: "post", retry })}
      requestBody:`;
const responding = (id: string) => operation(id, { responses: "responses:" });

// What is told of a line stands at its end.
const refused = `paths:
${responding("events")}
        "200":
          description: Events.
          content:
            text/event-stream: #: events has a response of the type text/event-stream, S
              schema: { type: string }
              examples: { a: { value: "data: 1" } }
${operation("parameters", { path: "/v1/parameters/{number}/{thing-id}" }).replace(
  "    get:",
  `    parameters:
      - { name: number, in: path, required: true, schema: { type: integer } } #: parameters has the path parameter number that is no string, S
    get:`,
)}
      parameters:
        - name: session
          in: cookie #: parameters has the cookie parameter session, S
          schema: { type: string }
        - $ref: "#/components/parameters/Cookie"
        - name: deep
          in: query
          style: deepObject #: parameters has the query parameter deep with style: deepObject, S
          schema: { type: object }
        - name: tags
          in: query
          schema: { type: array, items: { type: string } }
          explode: false #: parameters has the query parameter tags with explode: false, S
        - name: filter
          in: query
          schema: { type: object } #: parameters has the query parameter filter of the type object, S
        - $ref: "other.yaml#/Missing" #: parameters has the reference other.yaml#/Missing, which leads nowhere, S
        - { name: Authorization, in: header, schema: { type: string } } #: parameters has the header parameter Authorization, which the client sends itself, S
        - { name: view, in: query, schema: { type: string } }
        - { name: view, in: header, schema: { type: string } } #: parameters has a query and a header parameter view, S
        - { name: thing_id, in: path, required: true, schema: { type: string } } #: parameters has the path parameter thing_id, which its path lacks, S
        - { name: thing-id, in: path, required: true, schema: { type: string } } #: parameters has the path parameter thing-id, whose name is no identifier, S
${operation("body")}
      requestBody: #: body has a body with GET, S
        content: { application/json: { ${schema}, ${examples} } }
${post("types")}
        content: #: types has 2 content types in its request, S
          application/json: { ${schema} }
          text/plain: {}
${post("csv")}
        content:
          text/csv: { ${schema}, ${examples} } #: csv has a body of the type text/csv, S
${post("nameless")}
        content:
          application/json: { schema: { type: object } } #: nameless has a body whose schema has no name, S
${post("exampleless")}
        content:
          application/json: { ${schema} } #: exampleless has a body without an example, N
${post("form")}
        content:
          multipart/form-data: { schema: { $ref: "#/components/schemas/Form" }, ${examples} } #: form has a form that is not one file, S
${post("rules", "maybe").replace("x-retry: maybe", "x-retry: maybe #: rules has the x-retry maybe, S")}
        content: { application/json: { schema: { $ref: "#/components/schemas/Rules" }, ${examples} } }
${responding("twice")}
        "200": { $ref: "#/components/responses/Thing" }
        "202": { description: Later. } #: twice has 2 successful responses, S
${operation("none", { responses: "responses: #: none has no successful response, S" })}
        "404": { description: None. }
${responding("many")}
        2XX: { description: Good. } #: many has a response 2XX, S
${responding("media")}
        "200":
          description: Good.
          content: #: media has 2 content types in its response, S
            application/json: {}
            text/plain: {}
${responding("list")}
        "200":
          description: Good.
          content:
            application/json: #: list has a JSON response that is no object with a name, S
              schema: { type: array, items: { type: string } }
              ${examples}
  /v1/things: #: /v1/things has $ref, S
    $ref: "#/components/pathItems/Things"
${operation("method").replace("things.method", "things.many #: method has the x-sdk-method of another operation, S")}
${operation("other", { path: "/v1/{other_id}" }).replace("get:", "get: #: other has no parameter for {other_id} of its path, S")}
      servers: [] #: other has servers of its own, S
components:
  parameters:
    Cookie:
      name: token
      in: cookie #: parameters has the cookie parameter token, S
      schema: { type: string }
  responses:
    Thing:
      description: A thing.
      content: { application/json: { ${schema}, ${examples} } }
  schemas:
    Status: { type: object }
    Form: { type: object, properties: { file: { type: string, format: binary }, note: { type: string } } }
    Long: { type: string, maxLength: 3 }
    Tree:
      type: object
      properties:
        left: { $ref: "#/components/schemas/Tree" } #: rules.tree.left has the schema Tree within itself, C
    Rules:
      type: object
      properties:
        one: { type: string, anyOf: [{ minLength: 1 }] } #: rules.one has the rule anyOf, C
        two: { type: integer, maxLength: 3 } #: rules.two has the rule maxLength with type: integer, C
        three: { oneOf: [{ $ref: "#/components/schemas/Status" }] } #: rules.three has oneOf without discriminator, C
        four: { type: string, pattern: "^a$" } #: rules.four has a pattern: its description must say "in the form \`...\`", and it needs an example.
        five: { type: object, additionalProperties: { type: "null" } } #: rules.five.* has the type null, C
        six: { type: object, not: { minProperties: 1 } } #: rules.six has not with more than required, C
        seven:
          allOf: [{ $ref: "#/components/schemas/Long" }] #: rules.seven has the rule maxLength twice, C
          maxLength: 4
        eight:
          type: string
          const: 3 #: rules.eight has the rule const, C
        tree: { $ref: "#/components/schemas/Tree" }
`;

const advice: Readonly<Record<string, string>> = {
  S: "which is not supported. Teach it to scripts/generate/operations.ts.",
  C: "which nothing checks: teach it to scripts/generate/ruleChecks.ts and scripts/generate/rules.ts.",
  N: "which it needs: CONTRIBUTING.md says what an operation has.",
};

test("all that is not supported is told at once: the line, the operation and the file to teach for", () => {
  const told = refused.split("\n").flatMap((line, index) => {
    const [, said] = / #: (.*)$/.exec(line) ?? [];
    return said === undefined
      ? []
      : `openapi.yaml:${index + 1}: ${said.replace(/\b[SCN]$/, (end) => advice[end] ?? "")}`;
  });
  expect(() => shapesOf(parse(refused) as Document, refused)).toThrow(new Error(told.join("\n")));
});

test("an operation that says nothing is told all that it needs", () => {
  const needed =
    "operationId summary description tags x-sdk-method x-retry x-timeout-ms x-max-response-bytes responses";
  const text =
    "paths:\n  /v1/things:\n    get: {}\ncomponents: { parameters: {}, responses: {}, schemas: {} }\n";
  const told = needed.split(" ").map((word) => `openapi.yaml:3: GET /v1/things has no ${word}, ${advice.N}`);
  expect(() => shapesOf(parse(text) as Document, text)).toThrow(new Error(told.join("\n")));
});

const place = { name: "title", rules: { type: "string" }, validate: () => {} } as const;

test("lengths count characters as JSON Schema does: an emoji is one", () => {
  expect(thrownBy(() => minLength("🦊", 2, place)).text).toBe(
    "title must have at least 2 characters, not 1.",
  );
  expect(() => minLength("🦊🦊", 2, place)).not.toThrow();
  expect(() => maxLength("🦊🦊", 2, place)).not.toThrow();
  expect(thrownBy(() => maxLength("🦊🦊🦊", 2, place)).text).toBe(
    "title must have at most 2 characters, not 3.",
  );
});

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
