import { createHash } from "node:crypto";
import { appendFile, chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { blockOf } from "../../../docs/build/blocks.js";
import { queryOf, rankingOf, rowsOf, writeRequests } from "../../support/bulkFiles.js";
import { canaryKey } from "../../support/canary.js";
import { program, tunerank } from "../../support/commandLine.js";
import { type Outcome, run, temporaryFolder } from "../../support/project.js";
import { useRecordingServer } from "../../support/recordingServer.js";

const server = useRecordingServer();

let folder: string;
let remove: () => Promise<void>;
let input: string;

beforeEach(async () => {
  ({ folder, remove } = await temporaryFolder());
  input = path.join(folder, "in.jsonl");
  server.reply(rankingOf);
});
afterEach(() => remove());

const queries = (count: number): string[] => Array.from({ length: count }, (_, index) => `q${index}`).sort();
const outputOf = (name: string): string => path.join(folder, `${name}.jsonl`);
const rank = (output: string, ...more: string[]): Promise<Outcome> =>
  tunerank(["bulk", input, "--output", outputOf(output), ...more], { baseUrl: server.url });
const shardOf = (id: unknown, count: number): number =>
  createHash("sha256").update(JSON.stringify(id)).digest().readUInt32BE(0) % count;

test("the shards of a file are each id once, and together all of it", async () => {
  await writeRequests(input, 60);
  const outcomes = await Promise.all([0, 1, 2].map((index) => rank(`${index}`, "--shard", `${index}/3`)));
  for (const { exitCode, stderr } of outcomes) expect([exitCode, stderr]).toEqual([0, ""]);
  for (const index of [0, 1, 2]) {
    const ids = rowsOf(outputOf(`${index}`)).map(({ id }) => id);
    expect(ids.length).toBeGreaterThan(0);
    expect(ids.map((id) => shardOf(id, 3))).toEqual(ids.map(() => index));
  }
  expect(server.requests.map(queryOf).sort()).toEqual(queries(60));
});

test("a line without an id is told by shard 0 alone; a pipe is read by shards, too", async () => {
  await writeRequests(input, 4);
  await appendFile(input, '{"query":"no id"}\n');
  expect((await rank("0", "--shard", "0/2")).stderr).toContain("Line 5 is skipped.");
  expect((await rank("1", "--shard", "1/2")).stderr).toBe("");
  const args = ["bulk", "-", "--output", outputOf("piped"), "--shard", "1/2"];
  const piped = { baseUrl: server.url, input: await readFile(input) };
  expect((await tunerank(args, piped)).exitCode).toBe(0);
  expect(rowsOf(outputOf("piped"))).toEqual(rowsOf(outputOf("1")));
});

// The recipes of the guide for several machines, with a process for each shard.
describe("the recipes of shards", () => {
  const count = 40;
  let bin: string;

  beforeEach(async () => {
    bin = path.join(folder, "bin");
    await mkdir(bin);
    await install("tunerank", `exec '${process.execPath}' '${program}' "$@"`);
    await install("npx", 'shift; exec "$@"');
    await writeRequests(path.join(folder, "requests.jsonl"), count);
  });

  async function install(name: string, script: string): Promise<void> {
    await writeFile(path.join(bin, name), `#!/bin/sh\n${script}\n`);
    await chmod(path.join(bin, name), 0o755);
  }

  const recipe = (name: string): string => blockOf("recipes/several-machines.md", name).text;
  const environment = (): Record<string, string> => ({
    TUNERANK_BASE_URL: server.url,
    TUNERANK_API_KEY: canaryKey,
    PATH: `${bin}:${process.env.PATH}`,
  });
  const shell = (script: string, env: Record<string, string> = {}): Promise<Outcome> =>
    run("sh", ["-c", script], { cwd: folder, env: { ...environment(), ...env } });
  const indices = (shards: number): number[] => Array.from({ length: shards }, (_, index) => index);

  /** Each request was sent once, each shard has its rows, and what is joined is the output of the whole file. */
  async function expectAll(shards: number): Promise<void> {
    expect(server.requests.map(queryOf).sort()).toEqual(queries(count));
    const outputs = indices(shards).map((index) => rowsOf(path.join(folder, `results.${index}.jsonl`)));
    expect(outputs.filter((rows) => rows.length > 0).length).toBeGreaterThan(1);
    server.requests = [];
    const { exitCode, stdout } = await shell(recipe("join.sh"));
    expect([exitCode, stdout.split(", in ")[0]]).toEqual([0, `Ranked 0, ${count} already done`]);
    expect(server.requests).toHaveLength(0);
    const ids = rowsOf(path.join(folder, "results.jsonl")).map(({ id }) => id);
    expect([ids.length, new Set(ids).size]).toEqual([count, count]);
  }

  test("a Kubernetes job has a pod for each shard, and joined they are the whole", async () => {
    const { spec } = parse(recipe("kubernetes.yml"));
    const { command, envFrom, workingDir, volumeMounts } = spec.template.spec.containers[0];
    expect([spec.completionMode, envFrom[0].secretRef.name, workingDir]).toEqual([
      "Indexed",
      "tunerank",
      volumeMounts[0].mountPath,
    ]);
    const outcomes = await Promise.all(
      indices(spec.completions).map((index) => {
        const env = { ...environment(), JOB_COMPLETION_INDEX: `${index}` };
        return run(command[0], command.slice(1), { cwd: folder, env });
      }),
    );
    for (const { exitCode, stderr } of outcomes) expect([exitCode, stderr]).toEqual([0, ""]);
    await expectAll(spec.completions);
  });

  test("GNU parallel starts a process for each shard", async () => {
    // What the recipe asks of it: the command in a shell for each line of its input.
    await install(
      "parallel",
      `[ "$1 $2 $3 $4" = "--jobs 8 --retries 3" ] || exit 90; shift 4
    all=""; while read -r line; do sh -c "$(echo "$*" | sed "s/{}/$line/g")" & all="$all $!"; done
    for each in $all; do wait "$each" || exit; done`,
    );
    expect(await shell(recipe("parallel.sh"))).toMatchObject({ exitCode: 0, stderr: "" });
    await expectAll(8);
  });

  test("a Slurm array has a task for each shard", async () => {
    const script = recipe("slurm.sh");
    const [, first, last] = /^#SBATCH --array=(\d+)-(\d+)$/m.exec(script) ?? [];
    expect([first, last]).toEqual(["0", "7"]);
    const outcomes = await Promise.all(
      indices(8).map((index) => shell(script, { SLURM_ARRAY_TASK_ID: `${index}` })),
    );
    for (const { exitCode } of outcomes) expect(exitCode).toBe(0);
    await expectAll(8);
  });

  test("plain ssh starts a shard on each machine, and ends as the first that failed", async () => {
    // Each machine is a shell without this one's variables.
    await install("ssh", `shift; exec env -i PATH="$PATH" sh -c "$*"`);
    const variables = Object.entries(environment()).map(([name, value]) => `export ${name}='${value}'\n`);
    await writeFile(path.join(folder, "tunerank.env"), variables.join(""));
    const script = recipe("ssh.sh").replace("/data", folder);
    expect(await shell(script)).toMatchObject({ exitCode: 0, stderr: "" });
    await expectAll(4);
    server.reply({ status: 401 });
    await writeRequests(path.join(folder, "requests.jsonl"), count + 8);
    expect((await shell(script)).exitCode).toBe(3);
  });
});
