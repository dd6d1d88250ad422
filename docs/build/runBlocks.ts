// Does with every block of the guides what its first line says, as a reader would: in a folder with the packed package.

import { execFile, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { installPacked } from "../../checks/installPacked.js";
import { type Block, blockOf, blocksOf, compiled, type Outcome, writtenPages, wrongWith } from "./blocks.js";

// The mock server of an example, started by the command that its page shows, on a port that is free.
/** Where a reader's mock server listens. */
const readersHost = "127.0.0.1:4010";

/** A mock server that runs. */
interface MockServer {
  readonly host: string;
  /** Its first line. */
  readonly said: string;
  stop(): Promise<void>;
}

/** Whether a block is the command of a mock server. */
function isMockServer(text: string): boolean {
  return text.startsWith("npx tunerank mock");
}

/** Starts it, and waits until it listens. */
async function startMockServer(command: string, folder: string): Promise<MockServer> {
  const words = command.replace("npx tunerank", "exec node_modules/.bin/tunerank").replace(/ --port \d+/, "");
  const child = spawn("sh", ["-c", `${words} --port 0`], {
    cwd: folder,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const ended = once(child, "exit").then(() => "");
  const said = await Promise.race([once(createInterface(child.stdout), "line").then(String), ended]);
  const [, host] = /http:\/\/([\d.:]+\d)/.exec(said) ?? [];
  if (host === undefined) throw new Error(`${command} did not start.`);
  const stop = async () => {
    child.kill();
    await ended;
  };
  return { host, said, stop };
}

const root = fileURLToPath(new URL("../../", import.meta.url));

/** The folder of a reader, whose pages' blocks are saved each below its page. */
class Reader {
  readonly #packed: ReturnType<typeof installPacked> = installPacked();
  readonly env: Readonly<Record<string, string>>;
  readonly folder: string = this.#packed.user;

  constructor() {
    const modules = path.join(this.folder, "node_modules");
    mkdirSync(path.join(modules, ".bin"));
    symlinkSync("../tunerank/dist/cli/main.js", path.join(modules, ".bin/tunerank"));
    // What the examples import besides the package.
    for (const name of ["@types", "undici", "vitest"])
      symlinkSync(path.join(root, "node_modules", name), path.join(modules, name));
    const { text } = blockOf("guide/quickstart.md", "examples.sh");
    const said = execFileSync("sh", ["-e", "-c", `${text}\nenv`], { cwd: this.folder, encoding: "utf8" });
    this.env = Object.fromEntries(
      [...said.matchAll(/^(TUNERANK_\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]),
    );
  }

  fileOf({ page, file }: Block): string {
    return path.join(this.folderOf(page), file);
  }

  folderOf(page: string): string {
    return path.join(this.folder, "pages", page.replaceAll(/[/.]/g, "-"));
  }

  /** Saves the blocks of a page, with the host of a mock server instead of the one they name. */
  save(page: string, host: string = readersHost): void {
    mkdirSync(this.folderOf(page), { recursive: true });
    cpSync(path.join(this.folder, "train.jsonl"), path.join(this.folderOf(page), "train.jsonl"));
    for (const block of blocksOf(page))
      writeFileSync(this.fileOf(block), block.text.replaceAll(readersHost, host));
  }

  remove(): void {
    this.#packed.remove();
  }
}

/** Whether the tool is here that a block needs. */
export function canRun({ needs }: Pick<Block, "needs">): boolean {
  return needs === "" || spawnSync("sh", ["-c", needs], { stdio: "ignore" }).status === 0;
}

/** Checks and runs the blocks of these pages, but for those whose tool is missing; an outcome for each block that is wrong, or prints something. */
export async function runBlocks(pages: readonly string[] = writtenPages()): Promise<Outcome[]> {
  const reader = new Reader();
  try {
    const chosen = pages.map((page) => [page, blocksOf(page)] as const);
    for (const page of pages) reader.save(page);
    const outcomes = compiled(
      reader,
      chosen.flatMap(([, blocks]) => blocks),
    );
    const waiting = [...chosen];
    // Two pages at once; the blocks of one come one after the other.
    const work = async (): Promise<void> => {
      for (let next = waiting.shift(); next; next = waiting.shift())
        outcomes.push(...(await runPage(reader, next[1])));
    };
    await Promise.all([work(), work()]);
    return outcomes;
  } finally {
    reader.remove();
  }
}

async function runPage(reader: Reader, blocks: readonly Block[]): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const block of blocks) {
    if (block.does === "skip-check" || !canRun(block)) continue;
    const found = block.does === "run" ? await ran(reader, block) : { wrong: wrongWith(reader, block) };
    if (found.printed !== undefined || found.wrong !== undefined) outcomes.push({ block, ...found });
  }
  return outcomes;
}

// Each has a mock server of its own, as the quickstart says.
async function ran(reader: Reader, block: Block): Promise<Omit<Outcome, "block">> {
  const command = isMockServer(block.text) ? block.text.trim() : block.service;
  const mockServer = command === undefined ? undefined : await startMockServer(command, reader.folder);
  const host = mockServer?.host ?? "127.0.0.1:4009";
  const { wrong, stdout } = isMockServer(block.text)
    ? { stdout: mockServer?.said ?? "", wrong: undefined }
    : await run(reader, block, host);
  await mockServer?.stop();
  if (wrong !== undefined || block.prints === undefined) return { wrong };
  // The port and the times differ from run to run.
  const printed = stdout.replaceAll(host, readersHost).replaceAll(/ (wait_)?ms=\d+/g, " $1ms=12");
  const differs = printed.trimEnd() !== block.prints.text.trimEnd();
  return { printed, wrong: differs ? `It prints:\n${printed}` : undefined };
}

const programs: Readonly<Record<string, (file: string) => string[]>> = {
  ts: (file) => [process.execPath, file.replace(/\.ts$/, ".js")],
  js: (file) => [process.execPath, file],
  sh: (file) => ["sh", "-e", file],
  python: (file) => ["python3", file],
};

function run(
  reader: Reader,
  block: Block,
  host: string,
): Promise<{ stdout: string; wrong: string | undefined }> {
  const file = reader.fileOf(block);
  reader.save(block.page, host);
  const env = {
    ...process.env,
    npm_config_offline: "true",
    ...reader.env,
    TUNERANK_BASE_URL: `http://${host}`,
  };
  const [program = "", ...args] = programs[block.language]?.(file) ?? ["false"];
  return new Promise((resolve) => {
    execFile(program, args, { cwd: path.dirname(file), env, timeout: 60_000 }, (error, stdout, stderr) =>
      resolve({ stdout, wrong: error === null ? undefined : `It ended with ${error.code}:\n${stderr}` }),
    );
  });
}

/** Writes what each block prints now into its page. */
export async function updateOutputs(): Promise<void> {
  const docs = path.join(root, "docs");
  const outcomes = (await runBlocks()).sort(
    (a, b) => (b.block.prints?.line ?? 0) - (a.block.prints?.line ?? 0),
  );
  for (const { block, printed, wrong } of outcomes) {
    if (wrong !== undefined && printed === undefined)
      throw new Error(`docs/${block.page}:${block.line}: ${wrong}`);
    if (printed === undefined || block.prints === undefined) continue;
    const file = path.join(docs, block.page);
    const lines = readFileSync(file, "utf8").split("\n");
    const old = block.prints.text.trimEnd().split("\n").length;
    lines.splice(block.prints.line, old, ...printed.trimEnd().split("\n"));
    writeFileSync(file, lines.join("\n"));
  }
}
