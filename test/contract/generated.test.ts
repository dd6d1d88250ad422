import { writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
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

const contract = `paths:
components:
  parameters:
  responses:
  schemas:
    Status: { type: object }
`;

const stated = `x-sdk-method: things.get
      x-retry: read
      x-timeout-ms: 1000
      x-max-response-bytes: 1024
      summary: Get a thing
      description: Gets a thing.
      tags: [Datasets]`;
const thingResponse = `responses:
        "200": { $ref: "#/components/responses/Thing" }`;

/** An operation with what is not supported; its line ends with a mark. */
function operation(
  lines: string,
  { method = "get", path = "/v1/things", responses = thingResponse } = {},
): string {
  return `
  ${path}:
    ${method}:
      operationId: getThing
      ${stated}
${lines}
      ${responses}
`;
}

const components = `
  responses:
    Thing:
      description: A thing.
      content:
        application/json:
          schema: { $ref: "#/components/schemas/Status" }
          examples: { a: { value: {} } }`;

function withParts(paths: string, parameters: string, schemas: string): string {
  return contract
    .replace(/^paths:\n/m, `paths:\n${paths}`)
    .replace(/^ {2}responses:$/m, components)
    .replace(/^ {2}parameters:$/m, `  parameters:\n${parameters}`)
    .replace(/^ {2}schemas:$/m, `  schemas:\n${schemas}`);
}

const json = (content: string) => `      requestBody:
        content:
          application/json:
            ${content}`;

interface Refused {
  readonly paths: string;
  /** Components that the operation refers to. */
  readonly parameters?: string;
  readonly schemas?: string;
  readonly says: string;
}

const notSupported = "which is not supported. Teach it to scripts/generate/operations.ts.";
const notChecked =
  "which nothing checks: teach it to scripts/generate/ruleChecks.ts and scripts/generate/rules.ts.";
const needs = "which it needs: CONTRIBUTING.md says what an operation has.";
const parameter = (rest: string) => operation(`      parameters:\n        - ${rest}`);
const referred = operation(`      parameters:\n        - $ref: "#/components/parameters/Other"`);
const post = (lines: string, responses = thingResponse) => operation(lines, { method: "post", responses });

const refused: Readonly<Record<string, Refused>> = {
  "a response that is a stream of events": {
    paths: operation("", {
      responses: `responses:
        "200":
          description: Events.
          content:
            text/event-stream: # here
              schema: { type: string }
              examples: { a: { value: "data: 1" } }`,
    }),
    says: `getThing has a response of the type text/event-stream, ${notSupported}`,
  },
  "a cookie": {
    paths: parameter("name: session\n          in: cookie # here\n          schema: { type: string }"),
    says: `getThing has the cookie parameter session, ${notSupported}`,
  },
  "a cookie by reference": {
    paths: referred,
    parameters: "    Other:\n      name: session\n      in: cookie # here\n      schema: { type: string }\n",
    says: `getThing has the cookie parameter session, ${notSupported}`,
  },
  deepObject: {
    paths: parameter(
      "name: filter\n          in: query\n          style: deepObject # here\n          schema: { type: object }",
    ),
    says: `getThing has the query parameter filter with style: deepObject, ${notSupported}`,
  },
  "explode: false": {
    paths: parameter(
      "name: tags\n          in: query\n          schema: { type: array, items: { type: string } }\n          explode: false # here",
    ),
    says: `getThing has the query parameter tags with explode: false, ${notSupported}`,
  },
  "an object in the query": {
    paths: parameter("name: filter\n          in: query\n          schema: { type: object } # here"),
    says: `getThing has the query parameter filter of the type object, ${notSupported}`,
  },
  "a parameter of the path item that is a number": {
    paths: operation("", { path: "/v1/things/{thing_id}" }).replace(
      "    get:",
      "    parameters:\n      - { name: thing_id, in: path, required: true, schema: { type: integer } } # here\n    get:",
    ),
    says: `getThing has the path parameter thing_id that is no string, ${notSupported}`,
  },
  "a reference that leads nowhere": {
    paths: parameter('$ref: "other.yaml#/Missing" # here'),
    says: `getThing has the reference other.yaml#/Missing, which leads nowhere, ${notSupported}`,
  },
  "a header that the client sends": {
    paths: parameter("{ name: Authorization, in: header, schema: { type: string } } # here"),
    says: `getThing has the header parameter Authorization, which the client sends itself, ${notSupported}`,
  },
  "a header and a query parameter of one name": {
    paths: parameter(
      "{ name: view, in: query, schema: { type: string } }\n        - { name: view, in: header, schema: { type: string } } # here",
    ),
    says: `getThing has a query and a header parameter view, ${notSupported}`,
  },
  "a parameter that the path lacks": {
    paths: parameter("{ name: thing_id, in: path, required: true, schema: { type: string } } # here"),
    says: `getThing has the path parameter thing_id, which its path lacks, ${notSupported}`,
  },
  "an id whose name is no identifier": {
    paths: operation(
      "      parameters:\n        - { name: thing-id, in: path, required: true, schema: { type: string } } # here",
      { path: "/v1/things/{thing-id}" },
    ),
    says: `getThing has the path parameter thing-id, whose name is no identifier, ${notSupported}`,
  },
  "a GET with a body": {
    paths: operation(
      json(
        'schema: { $ref: "#/components/schemas/Status" }\n            examples: { a: { value: {} } }',
      ).replace("requestBody:", "requestBody: # here"),
    ),
    says: `getThing has a body with GET, ${notSupported}`,
  },
  "several content types in the request": {
    paths: post(
      json('schema: { $ref: "#/components/schemas/Status" }\n          text/plain: {}').replace(
        "content:",
        "content: # here",
      ),
    ),
    says: `getThing has 2 content types in its request, ${notSupported}`,
  },
  "a body of another type": {
    paths: post(
      '      requestBody:\n        content:\n          text/csv: # here\n            schema: { $ref: "#/components/schemas/Status" }\n            examples: { a: { value: "" } }',
    ),
    says: `getThing has a body of the type text/csv, ${notSupported}`,
  },
  "a body without a name": {
    paths: post(json("schema: { type: object }").replace("json:", "json: # here")),
    says: `getThing has a body whose schema has no name, ${notSupported}`,
  },
  "a body without an example": {
    paths: post(json('schema: { $ref: "#/components/schemas/Status" }').replace("json:", "json: # here")),
    says: `getThing has a body without an example, ${needs}`,
  },
  "a form with more than a file": {
    paths: post(
      '      requestBody:\n        content:\n          multipart/form-data: # here\n            schema: { $ref: "#/components/schemas/Form" }\n            examples: { a: { value: {} } }',
    ),
    schemas:
      "    Form:\n      type: object\n      properties: { file: { type: string, format: binary }, note: { type: string } }\n",
    says: `getThing has a form that is not one file, ${notSupported}`,
  },
  "a rule that nothing checks": {
    paths: post(
      json('schema: { $ref: "#/components/schemas/Long" }\n            examples: { a: { value: {} } }'),
    ),
    schemas:
      "    Long:\n      type: object\n      properties:\n        name:\n          type: string\n          const: 3 # here\n",
    says: `getThing.name has the rule const, ${notChecked}`,
  },
  "a schema within itself": {
    paths: post(
      json('schema: { $ref: "#/components/schemas/Tree" }\n            examples: { a: { value: {} } }'),
    ),
    schemas:
      '    Tree:\n      type: object\n      properties:\n        left: { $ref: "#/components/schemas/Tree" } # here\n',
    says: `getThing.left has the schema Tree within itself, ${notChecked}`,
  },
  "two successful responses": {
    paths: operation("", {
      responses: `${thingResponse}\n        "202": # here\n          description: Later.`,
    }),
    says: `getThing has 2 successful responses, ${notSupported}`,
  },
  "no successful response": {
    paths: operation("", { responses: 'responses: # here\n        "404": { description: None. }' }),
    says: `getThing has no successful response, ${notSupported}`,
  },
  "a response for many statuses": {
    paths: operation("", { responses: "responses:\n        2XX: { description: Good. } # here" }),
    says: `getThing has a response 2XX, ${notSupported}`,
  },
  "several content types in the response": {
    paths: operation("", {
      responses:
        'responses:\n        "200":\n          description: Good.\n          content: # here\n            application/json: {}\n            text/plain: {}',
    }),
    says: `getThing has 2 content types in its response, ${notSupported}`,
  },
  "a response that is a list": {
    paths: operation("", {
      responses:
        'responses:\n        "200":\n          description: Good.\n          content:\n            application/json: # here\n              schema: { type: array, items: { type: string } }\n              examples: { a: { value: [] } }',
    }),
    says: `getThing has a JSON response that is no object with a name, ${notSupported}`,
  },
  "a path by reference": {
    paths: '\n  /v1/things: # here\n    $ref: "#/components/pathItems/Things"\n',
    says: `/v1/things has $ref, ${notSupported}`,
  },
  "the method of another operation": {
    paths:
      operation("").replace("x-sdk-method: things.get", "x-sdk-method: things.get # first") +
      operation("", { path: "/v1/other" })
        .replace("getThing", "getOther")
        .replace("things.get", "things.get # here"),
    says: `getOther has the x-sdk-method of another operation, ${notSupported}`,
  },
  "nothing at all": {
    paths: "\n  /v1/things:\n    get: # here\n",
    says: "operationId summary description tags x-sdk-method x-retry x-timeout-ms x-max-response-bytes responses"
      .split(" ")
      .map((word) => `GET /v1/things has no ${word}, ${needs}`)
      .join("\nopenapi.yaml:4: "),
  },
};

describe("npm run generate names the operation, the line and the file to teach for", () => {
  test.each(Object.entries(refused))("%s", (_, { paths, parameters = "", schemas = "", says }) => {
    const text = withParts(paths, parameters, schemas);
    const lines = text.split("\n").flatMap((line, index) => (line.endsWith("# here") ? [index + 1] : []));
    expect(lines).toHaveLength(1);
    const document = parse(text) as Document;
    const generate = () => generateContract(document, shapesOf(document, text));
    expect(generate).toThrow(new Error(`openapi.yaml:${lines[0]}: ${says}`));
  });
});

test("all that is not supported is told at once, in the order of the lines", () => {
  const text = withParts(
    post(
      json('schema: { $ref: "#/components/schemas/Many" }\n            examples: { a: { value: {} } }'),
    ).replace("x-retry: read", "x-retry: maybe # 1") +
      operation("      servers: [] # 2", { path: "/v1/{other_id}" })
        .replace("getThing", "getOther")
        .replace("things.get", "things.other"),
    "",
    `    Many:
      type: object
      properties:
        one: { type: string, anyOf: [{ minLength: 1 }] } # 3
        two: { type: integer, maxLength: 3 } # 4
        three: { oneOf: [{ $ref: "#/components/schemas/Status" }] } # 5
        four: { type: string, pattern: "^a$" } # 6
        five: { type: object, additionalProperties: { type: "null" } } # 7
        six: { type: object, not: { minProperties: 1 } } # 8
        seven:
          allOf: [{ $ref: "#/components/schemas/Long" }]
          maxLength: 4
    Long: { type: string, maxLength: 3 }
`,
  );
  const lineOf = (mark: string): number => text.split("\n").findIndex((line) => line.includes(mark)) + 1;
  const document = parse(text) as Document;
  const told = [
    [lineOf("# 1"), `getThing has the x-retry maybe, ${notSupported}`],
    [lineOf("/v1/{other_id}") + 1, `getOther has no parameter for {other_id} of its path, ${notSupported}`],
    [lineOf("# 2"), `getOther has servers of its own, ${notSupported}`],
    [lineOf("# 3"), `getThing.one has the rule anyOf, ${notChecked}`],
    [lineOf("# 4"), `getThing.two has the rule maxLength with type: integer, ${notChecked}`],
    [lineOf("# 5"), `getThing.three has oneOf without discriminator, ${notChecked}`],
    [
      lineOf("# 6"),
      'getThing.four has a pattern: its description must say "in the form `...`", and it needs an example.',
    ],
    [lineOf("# 7"), `getThing.five.* has the type null, ${notChecked}`],
    [lineOf("# 8"), `getThing.six has not with more than required, ${notChecked}`],
    [lineOf("allOf: [{ $ref"), `getThing.seven has the rule maxLength twice, ${notChecked}`],
  ];
  const lines = told.map(([line, says]) => `openapi.yaml:${line}: ${says}`);
  expect(() => shapesOf(document, text)).toThrow(new Error(lines.join("\n")));
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

test("a pattern without words or an example is refused, and it says what to do", async () => {
  const document = await changed((fields) => {
    fields.task = { ...fields.task, pattern: "^[a-z]+$" };
  });
  expect(() => shapesOf(document, "")).toThrow(
    'rerankDocuments.task has a pattern: its description must say "in the form `...`"',
  );
});
