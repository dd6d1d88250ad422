import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { describeBreak } from "../../contract/breaking/comparison.js";
import { findBreaks } from "../../contract/breaking/findBreaks.js";
import { findChanges, findDeprecations } from "../../contract/breaking/findChanges.js";
import {
  breakingChanges,
  clientFormChanges,
  field,
  harmlessChanges,
  type Part,
  rerank,
  schema,
} from "../support/contractChanges.js";
import { root } from "../support/project.js";
import { publishContract } from "../support/publishedContract.js";

// Read without aliases: a change to one place must not reach another.
const text = JSON.stringify(parse(readFileSync(path.join(root, "openapi.yaml"), "utf8")));
const published = await publishContract();

function toldOf(change: (d: Part) => void): string[] {
  const changed = JSON.parse(text);
  change(changed);
  expect(JSON.stringify(changed), "the change is one").not.toBe(text);
  return findBreaks(JSON.parse(text), changed).map(describeBreak);
}

describe("breaks someone:", () => {
  test.each(breakingChanges)("$name", ({ change, breaks }) => {
    expect(toldOf(change).sort()).toEqual([...breaks].sort());
  });
});

describe("breaks nobody:", () => {
  test.each(harmlessChanges)("$name", ({ change }) => {
    expect(toldOf(change)).toEqual([]);
  });
});

test("a text that is no longer open, and another meaning of a discriminator", () => {
  const mapping = { chat: "#/components/schemas/RerankUsage", text: "#/components/schemas/RerankResult" };
  const told = (discriminator: object): readonly string[] => {
    const [before, after] = [JSON.parse(text), JSON.parse(text)];
    schema(before, "RerankUsage").discriminator = { propertyName: "kind", mapping };
    schema(after, "RerankUsage").discriminator = discriminator;
    return findBreaks(before, after).map(describeBreak);
  };
  expect(told({ propertyName: "kind", mapping: { ...mapping, more: "#/components/schemas/Code" } })).toEqual(
    [],
  );
  const renamed = told({ propertyName: "type", mapping });
  expect(renamed).toEqual([expect.stringContaining("the discriminator was kind, is type")]);
  const swapped = told({ propertyName: "kind", mapping: { chat: mapping.text, text: mapping.chat } });
  expect(swapped).toEqual([expect.stringContaining("value chat"), expect.stringContaining("value text")]);
  const gone = told({ propertyName: "kind", mapping: { speech: mapping.chat, text: mapping.text } });
  expect(gone).toEqual([expect.stringContaining("value chat")]);
  const closed = toldOf((d) => {
    delete field(d, "RerankRequest", "model")["x-open"];
  });
  expect(closed).toEqual([expect.stringContaining("no longer takes other texts (x-open)")]);
});

test("what becomes deprecated is told: fields, parameters, operations and schemas", () => {
  const told = (change: (d: Part) => void): readonly string[] => {
    const changed = JSON.parse(text);
    change(changed);
    expect(findDeprecations(changed, changed)).toEqual([]);
    return findDeprecations(JSON.parse(text), changed);
  };
  expect(
    told((d) => {
      field(d, "RerankRequest", "task").deprecated = true;
      field(d, "RerankRequest", "documents").items.deprecated = true;
      schema(d, "RerankUsage").deprecated = true;
      d.components.parameters.DeploymentId.deprecated = true;
      d.paths[rerank].post.deprecated = true;
      schema(d, "RerankRequest").properties.new = { type: "string", deprecated: true };
    }),
  ).toEqual([
    "operation `rerankDocuments`",
    "parameter `deployment_id` of `scaleDeployment`",
    "field `RerankRequest.documents[]`",
    "field `RerankRequest.task`",
    "schema `RerankUsage`",
  ]);
  expect(
    told((d) => {
      delete field(d, "BaseTrainingConfig", "batchSize").deprecated;
    }),
  ).toEqual([]);
});

test("a schema that contains itself is compared once", () => {
  const grow = (): Part => {
    const document = JSON.parse(text);
    const result = schema(document, "RerankResult");
    result.properties.similar = { type: "array", items: { $ref: "#/components/schemas/RerankResult" } };
    return document;
  };
  const changed = grow();
  field(changed, "RerankResult", "index").type = "string";
  expect(findBreaks(grow(), changed).map(describeBreak)).toEqual([
    "RerankResult.index, in answers: type was integer, is string. Breaks readers of answers (rerankDocuments).",
  ]);
});

test("a variant that a response's oneOf gets breaks its readers, one that it loses only generated code", () => {
  const oneOf = (...names: string[]): Part => {
    const document = JSON.parse(text);
    const variants = names.map((name) => ({ $ref: `#/components/schemas/${name}` }));
    field(document, "BaseTrainingConfig", "lrScheduler").oneOf = variants;
    return document;
  };
  const told = (from: Part, to: Part): string[] => findBreaks(from, to).map(describeBreak);
  const two = () => oneOf("LinearSchedule", "CosineSchedule");
  const three = () => oneOf("LinearSchedule", "CosineSchedule", "ConstantSchedule");
  expect(told(two(), three())).toEqual([
    "BaseTrainingConfig.lrScheduler, in answers: variant ConstantSchedule is new. Breaks readers of answers (resumeReinforcementFineTuningJob).",
  ]);
  expect(told(three(), two())).toEqual([
    "BaseTrainingConfig.lrScheduler, in answers: variant ConstantSchedule is gone. Breaks users of generated code (resumeReinforcementFineTuningJob).",
  ]);
});

const inConformance = (name: string): Part =>
  JSON.parse(readFileSync(path.join(root, "contract/conformance", name), "utf8"));
const revision = JSON.stringify({
  contract: JSON.parse(text),
  clients: published.json("openapi-client.json"),
  data: {
    "retries.json": inConformance("retries.json"),
    "parameters.json": inConformance("parameters.json"),
  },
});
const certified = "Breaks certified clients.";

describe("the form for clients breaks those who generate from it:", () => {
  test.each(clientFormChanges)("$name", ({ change, breaks }) => {
    const changed = published.json("openapi-client-3.0.json") as Part;
    change(changed);
    const told = findBreaks(published.json("openapi-client-3.0.json") as Part, changed, "clients");
    expect(told.map(describeBreak)).toEqual(breaks);
  });
});

function rowOf({ data }: Part, event: string): Part {
  return data["retries.json"].rows.find((row: Part) => row.event === event);
}
const { rows: retries } = inConformance("retries.json");

test.each<[what: string, change: (revision: Part) => void, breaks: string[], additions?: string[]]>([
  [
    "a change that the making of the form alone brings about, once for all schemas",
    ({ clients }) => {
      for (const name of ["prompt_tokens", "total_tokens"]) field(clients, "RerankUsage", name).minimum = 0;
    },
    [
      "the form for clients, RerankUsage.prompt_tokens, RerankUsage.total_tokens, in answers: minimum was none, is 0. Breaks users of generated code (rerankDocuments).",
    ],
  ],
  [
    "what breaks both forms alike, once",
    ({ contract, clients }) => {
      for (const form of [contract, clients]) field(form, "RerankRequest", "query").maxLength = 9;
    },
    ["RerankRequest.query, in requests: maxLength was none, is 9. Breaks callers (rerankDocuments)."],
  ],
  [
    "the changed outcome of an old row",
    (revision) => {
      rowOf(revision, "not-json-204").operations.rerankDocuments.requests = 3;
    },
    [`retries.json, not-json-204, rerankDocuments: requests was 1, is 3. ${certified}`],
  ],
  [
    "a lost row, a lost operation and a lost file",
    ({ data }) => {
      data["retries.json"].rows.splice(0, 1);
      delete data["retries.json"].rows[0].operations.scaleDeployment;
      delete data["parameters.json"];
    },
    [
      `retries.json, ${retries[0].event}: is gone. ${certified}`,
      `retries.json, ${retries[1].event}, scaleDeployment: is gone. ${certified}`,
      `parameters.json: is gone. ${certified}`,
    ],
  ],
  [
    "a changed parameter",
    ({ data }) => {
      data["parameters.json"].backoff.capMs = 4000;
    },
    [`parameters.json, backoff: capMs was 8000, is 4000. ${certified}`],
  ],
  [
    "a new row, or a row whose server does something else, as additions",
    (revision) => {
      const row = rowOf(revision, "not-json-204");
      revision.data["retries.json"].rows.push({ ...structuredClone(row), event: "one-more" });
      row.server = { answer: { status: 205 } };
    },
    [],
    [
      "another situation in retries.json, `not-json-204`, which a certified client may fail",
      `retries.json goes from ${retries.length} rows to ${retries.length + 1}; the new ones, which a certified client may fail: \`one-more\``,
    ],
  ],
  [
    "nothing of another description, or of an outcome that says more",
    (revision) => {
      const row = rowOf(revision, "not-json-204");
      row.description = "x";
      row.operations.rerankDocuments.waitMs = 1;
    },
    [],
  ],
])("of a revision is told: %s", (_what, change, breaks, additions = []) => {
  const after = JSON.parse(revision);
  change(after);
  expect(JSON.stringify(after), "the change is one").not.toBe(revision);
  const told = findChanges(JSON.parse(revision), after);
  expect([told.breaks.map(describeBreak), told.additions]).toEqual([breaks, additions]);
});
