// Editors and the command's help say the defaults that the code has, and no number that is not compared here.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";
import { describe, expect, test } from "vitest";
import { mostResultBytes } from "../../src/adapters/temporalFailure.js";
import { conformanceDefaults } from "../../src/cli/conformanceCommand.js";
import { mockDefaults } from "../../src/cli/mockCommand.js";
import { commands } from "../../src/cli/program.js";
import { operations } from "../../src/generated/contract.js";
import {
  defaultConnectMs,
  defaultMaxPauseMs,
  defaultMaxRetries,
  defaultRunMs,
  events,
  fewAtOnce,
} from "../../src/policy/decisions.js";
import { mostAtOnce } from "../../src/policy/limiter.js";
import { defaultConnections, defaultKeepAliveMs } from "../../src/transport/node/pool.js";
import { connect, failureOf, thrownBy } from "../support/clients.js";
import { useTestClock } from "../support/clock.js";
import { root } from "../support/project.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { silence } from "../support/responses.js";
import { turns } from "../support/turns.js";

const grouped = (value: number): string => value.toLocaleString("en-US");
const seconds = (ms: number): string => `${ms / 1000} seconds`;
const { rerankDocuments: rerank, scaleDeployment: scale, uploadDatasetFile: upload } = operations;
const { resumeReinforcementFineTuningJob: resume } = operations;
const perSecond = `${Number(upload.bytesPerSecond) / 1024} KiB`;
const documents = grouped(rerank.timeoutMs);

// Of modules that are loaded when they are used, which export no more than they have to: the test below and anyRequest.test.ts hold them.
const defaultRequestMs = 30_000;
const defaultMaxResponseBytes = 1_048_576;

const ofDocstrings = {
  "CallOptions.timeoutMs": `rerank ${documents}; resume and scale ${grouped(resume.timeoutMs)}; upload ${grouped(upload.timeoutMs)} + 1,000 for each ${perSecond}`,
  "CallOptions.maxRetries": grouped(defaultMaxRetries),
  "ClientOptions.connectTimeoutMs": grouped(defaultConnectMs),
  "ClientOptions.maxConnections": grouped(defaultConnections),
  "ClientOptions.keepAliveMs": grouped(defaultKeepAliveMs),
  "RequestOptions.timeoutMs": grouped(defaultRequestMs),
  "RequestOptions.maxResponseBytes": grouped(defaultMaxResponseBytes),
  "RerankAllOptions.timeoutMs": `${grouped(defaultRunMs)}, regardless of the client's \`timeoutMs\``,
  "RerankAllOptions.maxPauseMs": grouped(defaultMaxPauseMs),
  "RerankItemsOptions.timeoutMs": `${documents} × (the number of batches / \`concurrency\`, rounded up); with \`"auto"\`, / ${fewAtOnce} or \`max\``,
};

const uploadTime = `${seconds(upload.timeoutMs)}, and a second more for each ${perSecond} of the file`;
const retried = ["rerank", "upload", "scale", "resume", "mcp", "request"];
const ofHelp = {
  "rerank --timeout": seconds(rerank.timeoutMs),
  "rerank --concurrency": `auto: as many as the service accepts, at most ${mostAtOnce}. With --max-retries: ${fewAtOnce}`,
  "bulk --concurrency": `auto: as many as the service accepts, at most ${mostAtOnce}`,
  "bulk --max-pause": seconds(defaultMaxPauseMs),
  "bulk --timeout": seconds(defaultRunMs),
  "rerank --batch-size": `all. Without --timeout, each batch has ${seconds(rerank.timeoutMs)} of its own. Retries end then, or after --max-retries`,
  "upload --timeout": uploadTime,
  "upload --concurrency": "1",
  "scale --timeout": seconds(scale.timeoutMs),
  "resume --timeout": seconds(resume.timeoutMs),
  "request --timeout": `with an ID, the default of that operation; with METHOD PATH, ${seconds(defaultRequestMs)}`,
  "request --max-bytes": `${defaultMaxResponseBytes}`,
  "mock --port": `${mockDefaults.port}`,
  "mock --host": mockDefaults.host,
  "conformance --port": `${conformanceDefaults.port}`,
  "conformance --timeout": seconds(conformanceDefaults.timeout),
  ...Object.fromEntries(retried.map((name) => [`${name} --max-retries`, `${defaultMaxRetries}`])),
};

const server = useRecordingServer();

describe("by default", () => {
  const clock = useTestClock();
  const request = () => connect(server.url).request({ method: "POST", path: "/v1/jobs" });

  test("a request of any kind has so much time", async () => {
    server.reply(silence);
    const error = failureOf(request);
    await clock.passWhenWaiting(defaultRequestMs);
    expect(await error).toMatchObject({ code: "DEADLINE_EXCEEDED" });
  });

  test("so many batches are in flight at once", async () => {
    server.reply(silence);
    const controller = new AbortController();
    const options = { text: String, batchSize: 1, signal: controller.signal };
    const failure = failureOf(() => connect(server.url).rerank.items("q", [..."abcdef"], options));
    await server.received(fewAtOnce);
    await turns();
    expect(server.requests).toHaveLength(fewAtOnce);
    controller.abort();
    expect(await failure).toMatchObject({ code: "CANCELLED" });
  });
});

test("maxRetries is at most the largest number of the decision table, and says where to go for more", () => {
  const most = Math.max(...Object.values(events).flatMap(({ retries }) => Object.values(retries)));
  expect(defaultMaxRetries).toBe(most);
  const refused = { maxRetries: most + 1 };
  const error = thrownBy(() => connect(server.url, refused));
  expect(error).toMatchObject({ code: "OUT_OF_RANGE", argument: "maxRetries", executed: "no" });
  expect(error.message).toMatch(
    /must be at most 2, not 3: .*\. To try for longer, use rerankAll or a job queue\.$/,
  );
  expect(() => connect(server.url).withOptions(refused)).toThrow(error.message);
});

test("a docstring says the default of its option", () => {
  expect(resume.timeoutMs).toBe(scale.timeoutMs);
  const files = ["options/types.ts", "wrappers/types.ts", "bulk/options.ts", "ranking/types.ts"];
  expect(Object.fromEntries(files.flatMap(docstringsOf).filter(hasNumber))).toEqual(ofDocstrings);
});

// Where the default is not written beside the name.
const elsewhere: Readonly<Record<string, number>> = {
  "ActivitiesOptions.timeoutMs": defaultRunMs,
  "ActivitiesOptions.maxResultBytes": mostResultBytes,
};

test.each(["adapters", "testing"])("a docstring of %s says the default that the code has", (folder) => {
  const files = readdirSync(path.join(root, "src", folder)).map((name) => `${folder}/${name}`);
  const code = files
    .map(sourceOf)
    .join("\n")
    .replace(/(?<=\d)_(?=\d)/g, "");
  const said = files.flatMap(docstringsOf).filter(([, text = ""]) => /^"?\w*\d/.test(text));
  expect(said.length).toBeGreaterThan(2);
  for (const [name, text = ""] of said) {
    const value = text.replace(/^"|"$|, .*/g, "").replaceAll(/(?<=\d),(?=\d{3})/g, "");
    const { [name]: number } = elsewhere;
    const option = name.replace(/.*\./, "");
    const written = new RegExp(`\\b${option} (=|\\?\\?) "?${value}\\b`);
    if (number === undefined) expect(written.test(code), name).toBe(true);
    else expect(Number(value), name).toBe(number);
  }
});

test("the command's help says the default of its option", () => {
  const said = commands.flatMap((command) =>
    command.options.map((option): Said => {
      const text = / Default: (.*?)\.$/.exec(option.description)?.[1];
      return [`${command.name} ${option.long}`, text];
    }),
  );
  expect(Object.fromEntries(said.filter(hasNumber))).toEqual(ofHelp);
});

type Said = readonly [name: string, text: string | undefined];

const hasNumber = ([, text = ""]: Said): boolean => /\d/.test(text);
const sourceOf = (file: string): string => readFileSync(path.join(root, "src", file), "utf8");

// The `@default` of each member of the interfaces of a file.
function docstringsOf(file: string): Said[] {
  const source = ts.createSourceFile(file, sourceOf(file), ts.ScriptTarget.Latest, true);
  return source.statements.filter(ts.isInterfaceDeclaration).flatMap(({ name, members }) =>
    members.map((member): Said => {
      const tag = ts.getJSDocTags(member).find(({ tagName }) => tagName.text === "default");
      return [`${name.text}.${member.name?.getText()}`, ts.getTextOfJSDocComment(tag?.comment)];
    }),
  );
}
