import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { describeBreak } from "../../contract/breaking/comparison.js";
import { findBreaks } from "../../contract/breaking/findBreaks.js";
import { type Changes, findChanges } from "../../contract/breaking/findChanges.js";
import { clientFormChanges } from "../support/clientFormChanges.js";
import { field, type Part } from "../support/contractParts.js";
import { root } from "../support/project.js";
import { publishContract } from "../support/publishedContract.js";

const published = await publishContract();
const inConformance = (name: string): Part =>
  JSON.parse(readFileSync(path.join(root, "contract/conformance", name), "utf8"));
const text = JSON.stringify({
  contract: parse(readFileSync(path.join(root, "openapi.yaml"), "utf8")),
  clients: published.json("openapi-client.json"),
  data: {
    "retries.json": inConformance("retries.json"),
    "parameters.json": inConformance("parameters.json"),
  },
});

/** What is told of a change to all that a revision says. */
function toldOf(change: (revision: Part) => void): { breaks: string[]; additions: readonly string[] } {
  const after = JSON.parse(text);
  change(after);
  expect(JSON.stringify(after), "the change is one").not.toBe(text);
  const { breaks, additions }: Changes = findChanges(JSON.parse(text), after);
  return { breaks: breaks.map(describeBreak), additions };
}

function rowOf({ data }: Part, event: string): Part {
  return data["retries.json"].rows.find((row: Part) => row.event === event);
}

describe("the form for clients breaks those who generate from it:", () => {
  test.each(clientFormChanges)("$name", ({ change, breaks }) => {
    const changed = published.json("openapi-client-3.0.json") as Part;
    change(changed);
    const told = findBreaks(published.json("openapi-client-3.0.json") as Part, changed, "clients");
    expect(told.map(describeBreak)).toEqual(breaks);
  });
});

test("a change that the making of the form alone brings about is told, and once for all schemas", () => {
  const { breaks } = toldOf(({ clients }) => {
    for (const name of ["prompt_tokens", "total_tokens"]) field(clients, "RerankUsage", name).minimum = 0;
  });
  expect(breaks).toEqual([
    "the form for clients, RerankUsage.prompt_tokens, RerankUsage.total_tokens, in answers: minimum was none, is 0. Breaks users of generated code (rerankDocuments).",
  ]);
});

test("what breaks both forms alike is told once", () => {
  const { breaks } = toldOf(({ contract, clients }) => {
    for (const form of [contract, clients]) field(form, "RerankRequest", "query").maxLength = 9;
  });
  expect(breaks).toEqual([
    "RerankRequest.query, in requests: maxLength was none, is 9. Breaks callers (rerankDocuments).",
  ]);
});

describe("a client that was certified", () => {
  test("is broken by the changed outcome of an old row", () => {
    const { breaks } = toldOf((revision) => {
      rowOf(revision, "not-json-204").operations.rerankDocuments.requests = 3;
    });
    expect(breaks).toEqual([
      "retries.json, not-json-204, rerankDocuments: requests was 1, is 3. Breaks certified clients.",
    ]);
  });

  test("is broken by a lost row, a lost operation and a lost file", () => {
    const { breaks } = toldOf(({ data }) => {
      data["retries.json"].rows.splice(0, 1);
      delete data["retries.json"].rows[0].operations.scaleDeployment;
      delete data["parameters.json"];
    });
    const [first, second] = JSON.parse(text).data["retries.json"].rows;
    expect(breaks).toEqual([
      `retries.json, ${first.event}: is gone. Breaks certified clients.`,
      `retries.json, ${second.event}, scaleDeployment: is gone. Breaks certified clients.`,
      "parameters.json: is gone. Breaks certified clients.",
    ]);
  });

  test("is broken by a changed parameter", () => {
    const { breaks } = toldOf(({ data }) => {
      data["parameters.json"].backoff.capMs = 4000;
    });
    expect(breaks).toEqual(["parameters.json, backoff: capMs was 8000, is 4000. Breaks certified clients."]);
  });

  test("may fail a new row, or a row whose server does something else, which is no break", () => {
    const { breaks, additions } = toldOf((revision) => {
      const row = rowOf(revision, "not-json-204");
      revision.data["retries.json"].rows.push({ ...structuredClone(row), event: "one-more" });
      row.server = { answer: { status: 205 } };
    });
    const count = JSON.parse(text).data["retries.json"].rows.length;
    expect({ breaks, additions }).toEqual({
      breaks: [],
      additions: [
        "another situation in retries.json, `not-json-204`, which a certified client may fail",
        `retries.json goes from ${count} rows to ${count + 1}; the new ones, which a certified client may fail: \`one-more\``,
      ],
    });
  });

  test("is not broken by another description, or by an outcome that says more", () => {
    const told = toldOf((revision) => {
      const row = rowOf(revision, "not-json-204");
      row.description = "x";
      row.operations.rerankDocuments.waitMs = 1;
    });
    expect(told).toEqual({ breaks: [], additions: [] });
  });
});
