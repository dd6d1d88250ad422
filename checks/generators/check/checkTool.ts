import { join } from "node:path";
import { differences, essenceOf } from "./compare.js";
import { emptyFolder } from "./folders.js";
import type { Readings } from "./ownCalls.js";
import type { RecordedRequest, RecordingMock } from "./recordingMock.js";
import { type ClientRow, type Result, today } from "./results.js";
import { type Operation, operations, type Tool } from "./tool.js";
import { missing } from "./toolchains.js";

/** The calls of our own client, for each operation and for the one failure. */
export interface Expectation {
  readonly requests: Readonly<Record<Operation | "error", RecordedRequest>>;
  readonly readings: Readings;
}

export interface Setting {
  readonly mock: RecordingMock;
  readonly env: Readonly<Record<string, string>>;
  readonly expectation: Expectation;
  /** The folder with the documents. */
  readonly documents: string;
}

/** Makes a client with one tool from one document, calls it, and compares what was sent and understood. */
export async function checkTool(tool: Tool, document: string, setting: Setting): Promise<Result<ClientRow>> {
  const { name, version, language, unsupported = [], note = "" } = tool;
  const supported = operations.filter((operation) => !unsupported.includes(operation));
  const about = { tool: name, version, language, document, callable: supported.length, date: today(), note };
  const row = { ...about, compiled: false, called: 0, errorRead: false };
  const skippedFor = await missing(tool.needs);
  if (skippedFor.length > 0) return { row, skippedFor, problems: [] };
  const folder = await emptyFolder(`${name} ${document}`.replaceAll(/[^\w.]+/g, "-"));
  const workplace = { document: join(setting.documents, document), folder };
  try {
    await tool.generate(workplace);
    await tool.compile(workplace);
    row.compiled = true;
    setting.mock.take();
    const readings: Partial<Readings> = JSON.parse(await tool.call(workplace, setting.env));
    const problems = await compare([...supported, "error"], setting, readings);
    row.called = supported.filter((operation) => problems[operation]?.length === 0).length;
    row.errorRead = problems.error?.length === 0;
    return { row, skippedFor, problems: Object.values(problems).flat() };
  } catch (error) {
    return { row, skippedFor, problems: [String(error)] };
  }
}

/** What is wrong with each call, the calls being in the order of the requests. */
async function compare(
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
  const more = requests
    .slice(calls.length)
    .map(({ method, url }) => `one request too many: ${method} ${url}`);
  return { ...problems, more };
}
