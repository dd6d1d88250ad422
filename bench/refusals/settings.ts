// The package's own ways to rank 1,000 rows, as users write them.
import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { rerankAll } from "../../src/bulk/index.js";
import { createClient, isStatusError } from "../../src/index.js";
import { body, cancelled, type Given, numbers, Output, runSetting, type Written } from "./program.js";

const isRefusedKey = (error: unknown): boolean => isStatusError(error, "UNAUTHENTICATED");

async function inBulk({ url, rows, perMinute, isCancelled }: Given): Promise<Written> {
  const client = createClient({ baseUrl: url, apiKey: "matrix-key" });
  const output = new Output();
  for (;;) {
    const controller = new AbortController();
    const left = numbers(rows)
      .filter((row) => !output.has(row))
      .map((row) => ({ id: row, ...body(row) }));
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

async function inItems({ url, rows, isCancelled }: Given): Promise<Written> {
  const client = createClient({ baseUrl: url, apiKey: "matrix-key" });
  const controller = new AbortController();
  const output = new Output();
  let attempts = 0;
  const onAttempt = (): void => {
    attempts += 1;
    if (isCancelled && attempts === rows / 4) controller.abort();
  };
  try {
    // A batch for each row: the query is the same, and the document names the row.
    const ranked = await client.rerank.items("which row", numbers(rows), {
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

async function inCommand({ url, rows, perMinute, isCancelled }: Given): Promise<Written> {
  const folder = await mkdtemp(path.join(tmpdir(), "tunerank-refusals-"));
  const [input, output] = ["in", "out"].map((name) => path.join(folder, `${name}.jsonl`)) as [string, string];
  const lines = numbers(rows).map((row) => JSON.stringify({ id: `${row}`, ...body(row) }));
  await writeFile(input, lines.join("\n"));
  const rate = perMinute === undefined ? [] : ["--rate", `${perMinute}/min`];
  const args = ["bulk", input, "--output", output, "--quiet", ...rate];
  for (let run = 0; run < 20; run += 1) {
    const exitCode = await runCommand(args, url, isCancelled ? { output, rows: rows / 4 } : undefined);
    if (exitCode !== 3) break;
    await setTimeout(1_000);
  }
  if (isCancelled) {
    cancelled();
    await setTimeout(1_000);
  }
  const result = new Output();
  const written = await readFile(output, "utf8").catch(() => "");
  for (const line of written.split("\n").filter(Boolean)) {
    const { id, response } = JSON.parse(line);
    result.add(Number(id), response !== undefined);
  }
  await rm(folder, { recursive: true });
  return result.written;
}

/** @param until The output whose rows are counted, to interrupt the command at so many */
function runCommand(
  args: readonly string[],
  url: string,
  until: { readonly output: string; readonly rows: number } | undefined,
): Promise<number | null> {
  return new Promise((resolve) => {
    const node = ["--conditions=tunerank-source", "--import", "tsx", commandLine];
    const env = { ...process.env, TUNERANK_BASE_URL: url, TUNERANK_API_KEY: "matrix-key" };
    const child = execFile(process.execPath, [...node, ...args], { env }, () => resolve(child.exitCode));
    if (until === undefined) return;
    const timer = setInterval(async () => {
      // Until a run ends, its rows are in its part.
      const parts = await readdir(`${until.output}.parts`).catch(() => []);
      const read = (name: string): Promise<string> =>
        readFile(path.join(`${until.output}.parts`, name), "utf8");
      const texts = await Promise.all(parts.map((name) => read(name).catch(() => "")));
      if (texts.join("").split('{"id":').length <= until.rows) return;
      clearInterval(timer);
      child.kill("SIGINT");
    }, 50);
    child.on("exit", () => clearInterval(timer));
  });
}

await runSetting({ rerankAll: inBulk, "the command line": inCommand, "rerank.items": inItems });
