// Programs that rank 1,000 rows, as users write them. A process each: node settings.ts NAME URL RATE CANCEL.
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { rerankAll } from "../../src/bulk/index.js";
import { createClient, isStatusError } from "../../src/index.js";
import { rows } from "./services.js";

/** What a program has at its end. */
export interface Written {
  /** Rows with a ranking, each once. */
  readonly rows: number;
  /** Rows with an error. */
  readonly errors: number;
  /** Rows written more than once. */
  readonly twice: number;
}

interface Given {
  readonly url: string;
  /** Requests a minute, as the user declares them. */
  readonly perMinute: number | undefined;
  /** Whether to abort at a third. */
  readonly isCancelled: boolean;
}

const body = (row: number) => ({ query: `row ${row}`, documents: ["a document"] });
const all = Array.from({ length: rows }, (_, row) => row);

class Output {
  readonly #seen = new Map<number, boolean>();
  #twice = 0;

  add(row: number, isRanking: boolean): void {
    if (this.#seen.get(row) === true) this.#twice += 1;
    this.#seen.set(row, isRanking);
  }

  has(row: number): boolean {
    return this.#seen.has(row);
  }

  get count(): number {
    return this.#seen.size;
  }

  get written(): Written {
    const ranked = [...this.#seen.values()].filter(Boolean).length;
    return { rows: ranked, errors: this.#seen.size - ranked, twice: this.#twice };
  }
}

const isRefusedKey = (error: unknown): boolean => isStatusError(error, "UNAUTHENTICATED");

/** Tells the matrix that nothing more may be sent. */
function cancelled(): void {
  console.log("cancelled");
}

async function inBulk({ url, perMinute, isCancelled }: Given): Promise<Written> {
  const client = createClient({ baseUrl: url, apiKey: "matrix-key" });
  const output = new Output();
  for (;;) {
    const controller = new AbortController();
    const left = all.filter((row) => !output.has(row)).map((row) => ({ id: row, ...body(row) }));
    const rate = perMinute === undefined ? undefined : { requestsPerMinute: perMinute };
    try {
      for await (const { id, error } of rerankAll(client, left, { signal: controller.signal, rate })) {
        output.add(id, error === undefined);
        if (isCancelled && output.count === rows / 4) controller.abort();
      }
      return output.written;
    } catch (error) {
      if (isStatusError(error, "CANCELLED")) {
        cancelled();
        await setTimeout(1_000);
        return output.written;
      }
      // Somebody mends the key, and starts the program again.
      if (!isRefusedKey(error)) throw error;
      await setTimeout(1_000);
    }
  }
}

async function inItems({ url, isCancelled }: Given): Promise<Written> {
  const client = createClient({ baseUrl: url, apiKey: "matrix-key", maxConnections: 200 });
  const controller = new AbortController();
  const output = new Output();
  let attempts = 0;
  const onAttempt = (): void => {
    attempts += 1;
    if (isCancelled && attempts === rows / 4) controller.abort();
  };
  try {
    // A batch for each row: the query is the same, and the document names the row.
    const ranked = await client.rerank.items("which row", all, {
      text: (row) => `row ${row}`,
      batchSize: 1,
      signal: controller.signal,
      timeoutMs: 600_000,
      onAttempt,
    });
    for (const { item } of ranked) output.add(item, true);
  } catch (error) {
    if (!isStatusError(error)) throw error;
    const { partial } = error as { partial?: { readonly data: readonly { readonly item: number }[] } };
    for (const { item } of partial?.data ?? []) output.add(item, true);
    if (isStatusError(error, "CANCELLED")) cancelled();
    await setTimeout(1_000);
  }
  return output.written;
}

const commandLine = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));

async function inCommand({ url, perMinute, isCancelled }: Given): Promise<Written> {
  const folder = await mkdtemp(path.join(tmpdir(), "tunerank-refusals-"));
  const [input, output, errors] = ["in", "out", "errors"].map((name) =>
    path.join(folder, `${name}.jsonl`),
  ) as [string, string, string];
  await writeFile(input, all.map((row) => `${JSON.stringify({ id: `${row}`, ...body(row) })}\n`).join(""));
  const rate = perMinute === undefined ? [] : ["--rate", `${perMinute}/min`];
  const args = ["rerank", "--bulk", input, "--output", output, "--errors", errors, "--quiet", ...rate];
  for (let run = 0; run < 20; run += 1) {
    const exitCode = await runCommand(args, url, isCancelled ? output : undefined);
    if (exitCode !== 3) break;
    await setTimeout(1_000);
  }
  if (isCancelled) {
    cancelled();
    await setTimeout(1_000);
  }
  const result = new Output();
  for (const [file, isRanking] of [
    [output, true],
    [errors, false],
  ] as const) {
    const lines = await readFile(file, "utf8").catch(() => "");
    for (const line of lines.split("\n")) if (line !== "") result.add(Number(JSON.parse(line).id), isRanking);
  }
  await rm(folder, { recursive: true });
  return result.written;
}

/** @param watched The output whose rows are counted, to interrupt the command at a quarter of them */
function runCommand(
  args: readonly string[],
  url: string,
  watched: string | undefined,
): Promise<number | null> {
  return new Promise((resolve) => {
    const node = ["--conditions=tunerank-source", "--import", "tsx", commandLine];
    const env = { ...process.env, TUNERANK_BASE_URL: url, TUNERANK_API_KEY: "matrix-key" };
    const child = execFile(process.execPath, [...node, ...args], { env }, () => resolve(child.exitCode));
    if (watched === undefined) return;
    const timer = setInterval(async () => {
      const lines = (await readFile(watched, "utf8").catch(() => "")).split("\n").length;
      if (lines <= rows / 4) return;
      clearInterval(timer);
      child.kill("SIGINT");
    }, 50);
    child.on("exit", () => clearInterval(timer));
  });
}

const peer = createRequire(new URL("../package.json", import.meta.url));

async function inLimitedPeer({ url }: Given): Promise<Written> {
  const { default: OpenAI } = peer("openai");
  const { default: limit } = await import(peer.resolve("p-limit"));
  const client = new OpenAI({ apiKey: "matrix-key", baseURL: url });
  const lane = limit(16);
  return await eachRow((row) => lane(() => client.post("/inference/v1/rerank", { body: body(row) })));
}

async function inPlainLoop({ url }: Given): Promise<Written> {
  const { request } = peer("undici");
  const left = [...all];
  const output = new Output();
  const lane = async (): Promise<void> => {
    for (let row = left.shift(); row !== undefined; row = left.shift()) {
      const headers = { authorization: "Bearer matrix-key", "content-type": "application/json" };
      const answer = await request(`${url}/inference/v1/rerank`, {
        method: "POST",
        headers,
        body: JSON.stringify(body(row)),
      });
      await answer.body.text();
      output.add(row, answer.statusCode === 200);
    }
  };
  await Promise.all(Array.from({ length: 16 }, lane));
  return output.written;
}

async function eachRow(rank: (row: number) => Promise<unknown>): Promise<Written> {
  const output = new Output();
  await Promise.all(
    all.map(async (row) => {
      const isRanked = await rank(row).then(
        () => true,
        () => false,
      );
      output.add(row, isRanked);
    }),
  );
  return output.written;
}

export const settings: Readonly<Record<string, (given: Given) => Promise<Written>>> = {
  rerankAll: inBulk,
  "the command line": inCommand,
  "rerank.items": inItems,
  "p-limit with openai": inLimitedPeer,
  "a plain loop over undici": inPlainLoop,
};

const [name = "", url = "", rate = "", cancel = ""] = process.argv.slice(2);
const setting = settings[name];
if (setting !== undefined) {
  const given = { url, perMinute: rate === "" ? undefined : Number(rate), isCancelled: cancel !== "" };
  console.log(JSON.stringify(await setting(given)));
  process.exit();
}
