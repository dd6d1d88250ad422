import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { blockOf } from "../../../docs/build/blocks.js";
import { createTestService } from "../../../src/testing/index.js";
import { differences, essenceOf, type Readings } from "./compare.js";
import type { KnownResponses, RecordedRequest, RecordingMock } from "./recordingMock.js";
import { type ClientRow, type Result, today } from "./results.js";
import { generateClient, type Operation, operations, type Tool, type Workplace } from "./tool.js";
import { emptyFolder, missing, run } from "./toolchains.js";

/** What came of a client's own build. */
interface Built {
  readonly built: boolean;
  /** What could not be had for it, in the words of the command that looked; empty where nothing is wanting. */
  readonly notHad: string;
}

/** Runs a client's own build where its toolchain can be had. */
async function buildWhereHad({ builds }: Tool, { folder }: Workplace): Promise<Built> {
  if (builds === undefined) return { built: false, notHad: "" };
  const cwd = join(folder, "client");
  const [look, ...lookArgs] = builds.had;
  try {
    await run(look, lookArgs, { cwd });
  } catch (error) {
    return { built: false, notHad: `${shown(builds.had)}: ${told(error)}` };
  }
  const [command, ...args] = builds.build;
  await run(command, args, { cwd });
  return { built: true, notHad: "" };
}

function shown([command, ...args]: readonly string[]): string {
  return [command, ...args.map((arg) => (/\s/.test(arg) ? `'${arg}'` : arg))].join(" ");
}

// The error line of what a command printed, after the line that repeats the command.
function told(error: unknown): string {
  const [, ...printed] = String((error as Error).message).split("\n");
  const lines = printed.map((line) => line.trim()).filter((line) => line !== "");
  const chosen = lines.find((line) => /error|exception|ENOENT/i.test(line)) ?? lines.at(-1) ?? "";
  return chosen.slice(0, 200);
}

/** Runs the program of the tool's recipe against the mock server, as its page says; returns what is wrong. */
async function checkRecipe({ recipe }: Tool, { folder }: Workplace): Promise<string[]> {
  if (recipe === undefined) return [];
  const saved = join(folder, recipe.savedAs);
  await mkdir(dirname(saved), { recursive: true });
  await writeFile(saved, blockOf(recipe.page, recipe.program).text);
  const { text, prints } = blockOf(recipe.page, "commands.sh");
  const [last = ""] = text.trim().split("\n").reverse();
  const mockServer = await createTestService({ apiKey: "key-of-acme" }).listen();
  try {
    const env = {
      TUNERANK_BASE_URL: mockServer.url,
      TUNERANK_API_KEY: "key-of-acme",
      PATH: `${await recipe.bin()}:${process.env.PATH}`,
    };
    const printed = await run("sh", ["-c", last], { cwd: folder, env });
    return printed === prints?.text ? [] : [`recipe: it printed ${printed}`];
  } finally {
    await mockServer.close();
  }
}

/** The calls of our own client, for each operation and for the one failure. */
export interface Expectation {
  readonly requests: Readonly<Record<Operation | "error", RecordedRequest>>;
  readonly readings: Readings;
}

export interface Setting {
  readonly mock: RecordingMock;
  readonly responses: KnownResponses;
  readonly env: Readonly<Record<string, string>>;
  readonly expectation: Expectation;
  /** The folder with the documents. */
  readonly documents: string;
}

/** Makes a client with one tool from one document, calls it, and compares what was sent and understood. */
export async function checkTool(tool: Tool, document: string, setting: Setting): Promise<Result<ClientRow>> {
  const row = emptyRow(tool, document);
  const skippedFor = await missing(tool.needs);
  if (skippedFor.length > 0) return { row, skippedFor, problems: [] };
  const folder = await emptyFolder(`${tool.name} ${document}`.replaceAll(/[^\w.]+/g, "-"));
  const workplace = { document, folder };
  try {
    await generateClient(tool, workplace, join(setting.documents, document));
    await tool.compile?.(workplace);
    const { built, notHad } = await buildWhereHad(tool, workplace);
    const made = { ...row, compiled: compiledBy(tool, built), notHad };
    setting.mock.take();
    if (tool.call === undefined) return { row: made, skippedFor, problems: [] };
    const readings: Partial<Readings> = JSON.parse(await tool.call(workplace, setting.env));
    const { problems, ...read } = await compareAll(tool, setting, readings);
    const recipe = await checkRecipe(tool, workplace);
    return { row: { ...made, ...read }, skippedFor, problems: [...problems, ...recipe] };
  } catch (error) {
    return { row, skippedFor, problems: [String(error)] };
  }
}

function compiledBy({ compile, parsedOnly }: Tool, built: boolean): ClientRow["compiled"] {
  if (built || (compile !== undefined && !parsedOnly)) return "yes";
  return parsedOnly ? "parsed" : "generated only";
}

function emptyRow(tool: Tool, document: string): ClientRow {
  const { name, version, language, command, get = "", unsupported = [], note = "", shortfall } = tool;
  const callable = tool.call === undefined ? 0 : operations.length - unsupported.length;
  const about = { tool: name, version, language, document, command, get, callable, date: today() };
  const { statuses = [], responses = [], why = "" } = shortfall ?? {};
  const lost = [
    ...(statuses.length > 0 ? [`statuses ${statuses.join(", ")}: ${why}`] : []),
    ...responses.map((each) => `a response with ${each}: ${why}`),
  ].join("; ");
  const notes = [note, lost].filter((each) => each !== "").join("; ");
  const nothing = { compiled: "no", called: 0, errorRead: false, jobs: 0, newer: false, nulls: "" } as const;
  return { ...about, ...nothing, errors: 0, errorRows: 0, note: notes, notHad: "" };
}

type Compared = Pick<ClientRow, "called" | "errorRead" | "jobs" | "newer" | "nulls" | "errors" | "errorRows">;

async function compareAll(
  tool: Tool,
  setting: Setting,
  readings: Partial<Readings>,
): Promise<Compared & { readonly problems: string[] }> {
  const supported = operations.filter((operation) => !tool.unsupported?.includes(operation));
  const isCaller = supported.length > 0;
  const calls = isCaller ? await compareCalls([...supported, "error"], setting, readings) : {};
  const { nulls = [], newer = [], ...examples } = compareJobs(setting.expectation.readings, readings);
  const rows = isCaller ? setting.responses.errors : [];
  const lost = rows.flatMap(({ status, name }, index) => {
    const got = readings.errors?.[index];
    return got === status ? [] : [{ status, name, problem: `error ${status}, ${name}: got ${got}` }];
  });
  const { statuses = [], responses = [] } = tool.shortfall ?? {};
  const unexpected = lost
    .filter(({ status, name }) => !statuses.includes(status) && !responses.includes(name))
    .map(({ problem }) => problem);
  return {
    called: supported.filter((operation) => calls[operation]?.length === 0).length,
    errorRead: calls.error?.length === 0,
    jobs: Object.values(examples).filter(({ length }) => length === 0).length,
    newer: newer.length === 0,
    nulls: nulls.length === 0 ? "read" : nulls.join("; "),
    errors: rows.length - lost.length,
    errorRows: rows.length,
    problems: [...Object.values(calls).flat(), ...Object.values(examples).flat(), ...newer, ...unexpected],
  };
}

/** What is wrong with each call, the calls being in the order of the requests. */
async function compareCalls(
  calls: readonly (Operation | "error")[],
  { mock, expectation }: Setting,
  readings: Partial<Readings>,
): Promise<Record<string, string[]>> {
  const requests = mock.take();
  const problems: Record<string, string[]> = {};
  for (const [index, call] of calls.entries()) {
    const request = requests[index];
    const expected = await essenceOf(expectation.requests[call]);
    const sent = request === undefined ? ["no request"] : differences(expected, await essenceOf(request));
    const read = differences({ read: expectation.readings[call] }, { read: readings[call] });
    problems[call] = [...sent, ...read].map((problem) => `${call}: ${problem}`);
  }
  return problems;
}

function compareJobs(expected: Readings, actual: Partial<Readings>): Record<string, string[]> {
  const jobs = Object.entries(expected.jobs).map(([id, reading]) => {
    const got = actual.jobs?.[id] ?? { failed: "not read" };
    const failed = "failed" in got ? [String(got.failed).split("\n")[0]?.slice(0, 200) ?? ""] : undefined;
    return [id, (failed ?? differences(reading, got)).map((problem) => `job ${id}: ${problem}`)] as const;
  });
  return Object.fromEntries(jobs);
}
