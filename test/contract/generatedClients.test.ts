import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { differences, essenceOf } from "../../checks/generators/check/compare.js";
import { readResponses } from "../../checks/generators/check/recordingMock.js";
import { operations, type Tool } from "../../checks/generators/check/tool.js";
import { linters } from "../../checks/generators/linters.js";
import { tools } from "../../checks/generators/tools/index.js";
import { blockOf } from "../../docs/build/blocks.js";
import { useRecordingServer } from "../support/recordingServer.js";

// What a machine without every toolchain leaves uncompiled says so.
function compiledAs({ compile, parsedOnly }: Tool): RegExp {
  if (parsedOnly) return /^(yes|parsed)$/;
  return compile === undefined ? /^(yes|generated only)$/ : /^yes$/;
}

const server = useRecordingServer();

async function essenceSent(path: string, init: RequestInit): Promise<object> {
  server.reset();
  await fetch(server.url + path, { method: "POST", ...init });
  return essenceOf({ ...server.only, body: Buffer.from(server.only.body) });
}

const json = { authorization: "Bearer key", "content-type": "application/json" };

function form(name: string, bytes: number[], filename: string, text?: string): FormData {
  const body = new FormData();
  if (name) body.append(name, new Blob([Uint8Array.from(bytes)]), filename);
  if (text) body.append(text, "\u0001\u0002");
  return body;
}

describe("the comparison of generated clients with our own", () => {
  test("takes no notice of spacing, key order, boundary, file name and other headers", async () => {
    const ours = await essenceSent("/v1/a:scale", { headers: json, body: '{"a":1,"b":2}' });
    const headers = { ...json, "content-type": "Application/JSON; charset=utf-8", "user-agent": "other" };
    const theirs = await essenceSent("/v1/a:scale", { headers, body: '{ "b": 2, "a": 1 }' });
    expect(differences(ours, theirs)).toEqual([]);
    const upload = await essenceSent("/upload", { body: form("file", [0, 13, 10, 255], "a.bin") });
    expect(
      differences(upload, await essenceSent("/upload", { body: form("file", [0, 13, 10, 255], "b") })),
    ).toEqual([]);
  });

  test.each([
    ["method", "/v1/a:scale", { method: "PUT", headers: json, body: "{}" }],
    ["url", "/v1/a%3Ascale", { headers: json, body: "{}" }],
    ["url", "/v1/a:scale?b", { headers: json, body: "{}" }],
    ["authorization", "/v1/a:scale", { headers: { ...json, authorization: "key" }, body: "{}" }],
    ["mediaType", "/v1/a:scale", { headers: { ...json, "content-type": "text/plain" }, body: "{}" }],
    ["body", "/v1/a:scale", { headers: json, body: '{"replicaCount":0}' }],
    ["body", "/v1/a:scale", { headers: json }],
  ])("sees another %s: %s %o", async (member, path, init) => {
    const ours = await essenceSent("/v1/a:scale", { headers: json, body: "{}" });
    const found = differences(ours, await essenceSent(path, init));
    expect(found).toEqual([expect.stringMatching(new RegExp(`^${member}: expected `))]);
  });

  test("sees a form with another name, other bytes, two parts, and a part that is not a file", async () => {
    const ours = await essenceSent("/upload", { body: form("file", [1, 2], "a.bin") });
    for (const body of [
      form("data", [1, 2], "a.bin"),
      form("file", [1, 3], "a.bin"),
      form("file", [1, 2], "a.bin", "purpose"),
      form("", [], "", "file"),
    ])
      expect(differences(ours, await essenceSent("/upload", { body }))).toEqual([
        expect.stringMatching(/^body: /),
      ]);
  });
});

describe("docs/data/generators.json", async () => {
  const path = new URL("../../docs/data/generators.json", import.meta.url);
  const data: Record<string, Record<string, unknown>[]> = JSON.parse(await readFile(path, "utf8"));

  test("has a row for every pinned tool and document, each good; else run `npm run check:generators`", async () => {
    const { errors } = await readResponses(fileURLToPath(new URL("../../openapi.yaml", import.meta.url)));
    const wanted = tools.flatMap((tool) => {
      const { name, version, language, documents, command, get = "" } = tool;
      const unsupported = tool.unsupported ?? [];
      const callable = tool.call === undefined ? 0 : operations.length - unsupported.length;
      const { statuses = [], responses = [] } = tool.shortfall ?? {};
      const lost = errors.filter(
        ({ status, name }) => statuses.includes(status) || responses.includes(name),
      ).length;
      const errorRows = callable === 0 ? 0 : errors.length;
      const good = {
        compiled: expect.stringMatching(compiledAs(tool)),
        called: callable,
        callable,
        errorRead: callable > 0,
        jobs: tool.call === undefined ? 0 : 3,
        newer: tool.call !== undefined,
        nulls: expect.any(String),
        errors: errorRows - (errorRows === 0 ? 0 : lost),
        errorRows,
        note: expect.stringContaining(tool.note ?? ""),
        notHad: tool.builds === undefined ? "" : expect.any(String),
        date: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
      };
      return documents.map((document) => ({
        tool: name,
        version,
        language,
        document,
        command,
        get,
        ...good,
      }));
    });
    expect(data.clients).toEqual(wanted);
  });

  test.each(["python", "go"])("the recipe for %s says the commands that are run", (language) => {
    const { text } = blockOf(`recipes/${language}.md`, "commands.sh");
    const commands = text.replaceAll(/ \\\n\s*/g, " ").split("\n");
    const [tool, ...others] = tools.filter(({ recipe }) => recipe?.page === `recipes/${language}.md`);
    expect(others).toEqual([]);
    expect(commands).toEqual(expect.arrayContaining([tool?.get, tool?.command]));
  });

  test("names what could not be had, with its error, wherever a client is not compiled", () => {
    const rest = data.clients?.filter(({ compiled }) => compiled !== "yes") ?? [];
    for (const { notHad } of rest) expect(notHad).toMatch(/^\w+ .+: .*(ENOENT|[Ee]rror)/);
  });

  test("has a row for every linter and published form, without a finding", () => {
    const wanted = linters.flatMap(({ name, version, documents, command }) =>
      documents.map((document) => ({ tool: name, version, document, command, findings: "none" })),
    );
    expect(data.linters?.map(({ date, ...row }) => row)).toEqual(wanted);
  });

  test("has a row of schemathesis for every strict form, against Prism and the mock server, without a failure", () => {
    const rows = data.schemathesis?.map(({ server, document, operations, failures }) => [
      server,
      document,
      operations,
      failures,
    ]);
    expect(rows).toEqual(
      ["Prism", "the mock server"].flatMap((server) =>
        ["openapi.json", "openapi-3.0.json"].map((document) => [server, document, 4, 0]),
      ),
    );
  });

  test("every command is the tool's own, without an option that only this contract would need", () => {
    const options = tools.flatMap(({ command }) => command.match(/(?<=\s)--?[a-z][\w-]*/g) ?? []);
    // Where to read, where to write, and which of its outputs a tool shall make.
    const usual =
      "-jar -i -g -o --path --output-path --input --input-file-type --output-model-type --output -generate -package --target --package";
    expect(options.filter((option) => !usual.split(" ").includes(option))).toEqual([]);
  });
});
