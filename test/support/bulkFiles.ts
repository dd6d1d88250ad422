import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach } from "vitest";
import { tunerank } from "./commandLine.js";
import { type Outcome, temporaryFolder } from "./project.js";
import { ranked } from "./rankings.js";
import type { ReceivedRequest, Reply } from "./recordingServer.js";

/** The files of the bulk run of the test that runs, in a folder of its own. */
export let folder: string;
export let input: string;
export let output: string;
export let errors: string;

/** Gives each test these files. @param usual Options of each run @returns what runs the command on them */
export function useBulkFiles(
  server: { readonly url: string },
  ...usual: readonly string[]
): (...more: string[]) => Promise<Outcome> {
  let remove: () => Promise<void>;
  beforeEach(async () => {
    ({ folder, remove } = await temporaryFolder());
    [input, output, errors] = ["in.jsonl", "out.jsonl", "errors.jsonl"].map((name) =>
      path.join(folder, name),
    ) as [string, string, string];
  });
  afterEach(() => remove());
  return (...more) =>
    tunerank(["rerank", "--bulk", input, "--output", output, ...usual, ...more], { baseUrl: server.url });
}

/** A row of an output or errors file. */
export interface FileRow {
  readonly id?: string | number;
  readonly line?: number;
  readonly fingerprint?: string;
  readonly final?: boolean;
  readonly response?: { readonly model: string };
  readonly error?: { readonly code: string; readonly message: string; readonly executed?: string };
}

/** Writes requests `r0`, `r1` and so on, whose queries are `q0`, `q1` and so on. */
export async function writeRequests(file: string, count: number): Promise<void> {
  const lines = Array.from({ length: count }, (_, index) =>
    JSON.stringify({ id: `r${index}`, query: `q${index}`, documents: ["one", "two"] }),
  );
  await writeFile(file, `${lines.join("\n")}\n`);
}

/** The rows of a file. */
export async function rowsOf(file: string): Promise<readonly FileRow[]> {
  const text = await readFile(file, "utf8");
  if (text !== "" && !text.endsWith("\n")) throw new Error("The last row has no end.");
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

/** What a request asked for. */
export function queryOf({ body }: ReceivedRequest): string {
  return JSON.parse(`${body}`).query;
}

/** A ranking whose model tells which query it ranks for. */
export function rankingOf(request: ReceivedRequest): Reply {
  return ranked(request, { model: `for ${queryOf(request)}`, usage: {} });
}
