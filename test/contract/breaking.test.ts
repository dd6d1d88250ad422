import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { describeBreak } from "../../contract/breaking/comparison.js";
import { findBreaks } from "../../contract/breaking/findBreaks.js";
import { findDeprecations } from "../../contract/breaking/findChanges.js";
import { breakingChanges } from "../support/breakingChanges.js";
import { field, type Part, rerank, schema } from "../support/contractParts.js";
import { harmlessChanges } from "../support/harmlessChanges.js";
import { root } from "../support/project.js";

// Read without aliases: a change to one place must not reach another.
const text = JSON.stringify(parse(readFileSync(path.join(root, "openapi.yaml"), "utf8")));

function toldOf(change: (d: Part) => void): string[] {
  const changed = JSON.parse(text);
  change(changed);
  expect(JSON.stringify(changed), "the change is one").not.toBe(text);
  return findBreaks(JSON.parse(text), changed).map(describeBreak);
}

test("the tables are as long as they should be", () => {
  expect(breakingChanges.length).toBeGreaterThanOrEqual(25);
  expect(harmlessChanges.length).toBeGreaterThanOrEqual(15);
});

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
