import { readFileSync } from "node:fs";
import path from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { Json, JsonObject } from "../../scripts/build/json.js";
import { contract, responseExamples } from "../support/contract.js";
import { root } from "../support/project.js";
import { publishContract } from "../support/publishedContract.js";

const published = await publishContract();
const strict = published.json("openapi.json") as unknown as Published;
const client = published.json("openapi-client.json") as unknown as Published;
const { newer } = JSON.parse(readFileSync(path.join(root, "checks/generators/jobs.json"), "utf8"));

interface Published {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { responses: JsonObject; requestBody: Json }>>>
  >;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonObject>>;
    readonly responses: JsonObject;
  };
}

const refusing =
  /^(minimum|maximum|exclusiveMinimum|exclusiveMaximum|multipleOf|pattern|not|min(Length|Items|Properties)|max(Length|Items|Properties)|uniqueItems|enum|default)$/;

/** The schemas that a part of the document refers to. */
function reached(part: unknown, { components }: Published, found = new Set<string>()): Set<string> {
  JSON.stringify(part, (key, value) => {
    const [, name] = (key === "$ref" && /^#\/components\/schemas\/(.*)$/.exec(value)) || [];
    if (name !== undefined && !found.has(name))
      reached(components.schemas[name], { components } as Published, found.add(name));
    return value;
  });
  return found;
}

const operations = Object.values(client.paths).flatMap((item) => Object.values(item));
const received = [
  ...reached(
    operations.map(({ responses }) => responses),
    client,
  ),
];
const sent = [
  ...reached(
    operations.map(({ requestBody }) => requestBody),
    client,
  ),
];

/** Every schema within a schema, with the keyword that it stands under. */
function within(schema: JsonObject): JsonObject[] {
  const { properties = {}, items, additionalProperties, allOf = [] } = schema as Record<string, Json>;
  const inner = [
    ...Object.values(properties as JsonObject),
    items,
    additionalProperties,
    ...(allOf as Json[]),
  ];
  const objects = inner.filter((each) => typeof each === "object" && each !== null) as JsonObject[];
  return [schema, ...objects.flatMap(within)];
}

function withoutUnstated(key: string, value: unknown): unknown {
  return key === "x-unstated" ? undefined : value;
}

/** Every `x-unstated` of a document, by the JSON Pointer of what it is said of. */
function unstatedIn(node: Json, pointer = ""): Record<string, unknown> {
  if (typeof node !== "object" || node === null) return {};
  const inner = Object.entries(node).map(([key, value]) =>
    unstatedIn(value, `${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`),
  );
  const { "x-unstated": own } = node as JsonObject;
  return Object.assign(typeof own === "string" ? { [pointer]: own } : {}, ...inner);
}

function schemaOf(document: Published, name: string): JsonObject {
  const found = document.components.schemas[name];
  if (found === undefined) throw new Error(`${name} is missing.`);
  return found;
}

describe("the form for clients", () => {
  test("is the same in YAML and in JSON", () => {
    expect(parse(published.text("openapi-client.yaml"))).toEqual(client);
  });

  test("has schemas for requests and for responses, and none for both", () => {
    expect(received).toContain("ReinforcementFineTuningJob");
    expect(sent).toEqual(expect.arrayContaining(["RerankRequest", "DatasetUpload"]));
    expect(received.filter((name) => sent.includes(name))).toEqual([]);
    expect(Object.keys(client.components.schemas).sort()).toEqual([...received, ...sent].sort());
  });

  test.each(received)("nothing makes a client refuse a newer %s", (name) => {
    for (const schema of within(schemaOf(client, name))) {
      expect(Object.keys(schema).filter((key) => refusing.test(key))).toEqual([]);
      expect(schema.format).not.toBe("uuid");
      if (schema.type === "object") expect(schema.additionalProperties).not.toBe(undefined);
    }
  });

  test.each(sent)("%s is as strict as in the strict form", (name) => {
    const strictly = JSON.parse(JSON.stringify(schemaOf(strict, name), withoutUnstated)) as JsonObject;
    const { default: only, ...schema } = schemaOf(client, name);
    expect(only).toEqual(name === "JobResumption" ? {} : undefined);
    const { file, ...fields } = (schema.properties ?? {}) as JsonObject;
    const { file: strictFile, ...expected } = (strictly.properties ?? {}) as JsonObject;
    expect({ ...schema, properties: fields }).toEqual({ ...strictly, properties: expected });
    if (file !== undefined) expect(file).toMatchObject({ type: "string", format: "binary" });
    if (file !== undefined)
      expect(strictFile).toMatchObject({ contentMediaType: "application/octet-stream" });
    // To a validator, such as openapi-core, bytes are no string.
    if (file !== undefined) expect(strictFile).not.toHaveProperty("type");
  });

  // A generator for C++ made null of each.
  test("a text stands where it is used: no schema of the components is a text without an enumeration", () => {
    const texts = Object.entries(client.components.schemas).filter(
      ([, schema]) => schema.type === "string" && schema.enum === undefined,
    );
    expect(texts).toEqual([]);
    const { state } = schemaOf(client, "ReinforcementFineTuningJob").properties as Record<string, JsonObject>;
    expect(state).toMatchObject({ type: "string", readOnly: true });
    expect(state?.["x-extensible-enum"]).toContain("JOB_STATE_RUNNING");
    expect(state?.description).toMatch(/^What the job is doing\..*Known values;/s);
  });

  test("what is not stated stands in one object at the top, by where it is in the strict form, and nowhere else", () => {
    const { "x-unstated": unstated, ...others } = published.json("openapi-client.json");
    expect(JSON.stringify(others)).not.toContain('"x-unstated"');
    expect(unstated).toEqual(unstatedIn(published.json("openapi.json")));
    expect(Object.keys(unstated as JsonObject)).toEqual(
      expect.arrayContaining([
        "/components/responses/UnexpectedError",
        "/components/schemas/ErrorBody",
        "/components/schemas/RerankRequest/properties/top_n",
        "/paths/~1inference~1v1~1rerank/post",
      ]),
    );
    expect(published.json("openapi-client-3.0.json")["x-unstated"]).toEqual(unstated);
  });

  test("resume needs its body, and says what a tool sends that is given none", () => {
    const resume = operations.find(({ requestBody }) =>
      JSON.stringify(requestBody ?? {}).includes("JobResumption"),
    );
    expect(resume?.requestBody).toMatchObject({ required: true });
    expect(schemaOf(client, "JobResumption")).toMatchObject({ type: "object", default: {} });
    const { components } = published.json("openapi-client-3.0.json") as unknown as Published;
    expect(components.schemas.JobResumption, "ogen knows no default of an object").not.toHaveProperty(
      "default",
    );
  });

  test("the upload's form does not write out how a file is sent anyway", () => {
    expect(published.text("openapi-client.json")).not.toContain('"encoding"');
    expect(published.text("openapi.json")).toContain('"encoding"');
  });

  test("every rule that a client no longer enforces stands in x-limits, and in words", () => {
    const limited = received.flatMap((name) => {
      const { properties = {}, ...whole } = schemaOf(client, name);
      const fields = Object.entries(properties as JsonObject).map(([field, schema]) => [
        `${name}.${field}`,
        schema,
      ]);
      return [[name, whole], ...fields].filter(([, schema]) => (schema as JsonObject)["x-limits"]) as [
        string,
        JsonObject,
      ][];
    });
    const limits = Object.fromEntries(limited.map(([name, schema]) => [name, schema["x-limits"]]));
    expect(limits).toEqual({
      "ReinforcementFineTuningJob.chunkSize": { minimum: 1, maximum: 10_000 },
      BaseTrainingConfig: { not: expect.objectContaining({ required: ["baseModel", "warmStartFrom"] }) },
      LearningRateScheduler: { minProperties: 1, maxProperties: 1 },
      "ObjectStorageAConfig.credentialsSecret": { pattern: "^accounts/[^/]+/secrets/[^/]+$" },
      "ObjectStorageAConfig.iamRoleArn": { pattern: "^arn:aws:iam::[^:]*:role/.+$" },
      ObjectStorageBConfig: {
        not: expect.objectContaining({ required: ["credentialsSecret", "managedIdentityClientId"] }),
      },
      "ObjectStorageBConfig.credentialsSecret": { pattern: "^accounts/[^/]+/secrets/[^/]+$" },
      "ObjectStorageBConfig.managedIdentityClientId": { format: "uuid" },
      "ObjectStorageBConfig.tenantId": { format: "uuid" },
      "JobProgress.percent": { minimum: 0, maximum: 100 },
      "InferenceParameters.responseCandidatesCount": { minimum: 2 },
      "DpoConfig.beta": { exclusiveMinimum: 0, exclusiveMaximum: 0.5 },
    });
    const words = Object.fromEntries(limited.map(([name, { description }]) => [name, description]));
    expect(words).toMatchObject({
      "ReinforcementFineTuningJob.chunkSize": expect.stringMatching(/1 to 10,000.*default is `200`/s),
      BaseTrainingConfig: expect.stringContaining("Only one of `baseModel` and `warmStartFrom`"),
      LearningRateScheduler: expect.stringContaining("Exactly one variant"),
      "ObjectStorageAConfig.iamRoleArn": expect.stringContaining(
        "arn:aws:iam::<account-id>:role/<role-name>",
      ),
      "ObjectStorageBConfig.tenantId": expect.stringContaining("UUID"),
      "JobProgress.percent": expect.stringContaining("0 to 100"),
      "InferenceParameters.responseCandidatesCount": expect.stringContaining("At least 2"),
      "DpoConfig.beta": expect.stringContaining("greater than 0 and less than 0.5"),
    });
  });

  test("enumerations are texts whose known values are told", () => {
    const enumerations = Object.entries(contract.components.schemas).filter(
      ([, each]) => each.enum !== undefined,
    );
    expect(enumerations).toHaveLength(5);
    const every = received.flatMap((name) => within(schemaOf(client, name)));
    for (const [name, { enum: values = [] }] of enumerations) {
      const known = JSON.stringify(values);
      const found = every.filter((schema) => JSON.stringify(schema["x-extensible-enum"]) === known);
      expect(found.length, name).toBeGreaterThan(0);
      for (const { type, description } of found) {
        expect(type).toBe("string");
        for (const value of values) expect(description).toContain(`\`${value}\``);
      }
    }
  });

  test("an error may have any body, and no default response stands beside the statuses", () => {
    for (const { responses } of operations) expect(Object.keys(responses)).not.toContain("default");
    const errors = Object.values(client.components.responses) as JsonObject[];
    expect(errors).toHaveLength(11);
    for (const { content } of errors) expect(content).toEqual({ "*/*": { schema: {} } });
  });

  const ajv = new Ajv2020({
    strict: false,
    formats: { "date-time": /^\d{4}-\d\d-\d\dT/, int32: true, int64: true, float: true, uuid: true },
  });
  const job = (form: string) =>
    ajv
      .addSchema(published.json(form), form)
      .compile({ $ref: `${form}#/components/schemas/ReinforcementFineTuningJob` });

  test("allows the examples of a job, and that of a newer service, which the strict form refuses", () => {
    const validate = job("openapi-client.json");
    const examples = responseExamples("resumeReinforcementFineTuningJob").map(([, value]) => value);
    for (const each of [...examples, newer]) {
      validate(each);
      expect(validate.errors).toBeNull();
    }
    expect(job("openapi.json")(newer)).toBe(false);
  });
});
