// The recipes of the guide for several machines, with a process for each shard.
import { chmod, mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { parse } from "yaml";
import { blockOf } from "../../docs/build/blocks.js";
import { queryOf, rankingOf, rowsOf, writeRequests } from "../support/bulkFiles.js";
import { canaryKey } from "../support/canary.js";
import { program } from "../support/commandLine.js";
import { type Outcome, run, temporaryFolder } from "../support/project.js";
import { useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();
const count = 40;
let folder: string;
let bin: string;
let remove: () => Promise<void>;

beforeEach(async () => {
  ({ folder, remove } = await temporaryFolder());
  bin = path.join(folder, "bin");
  await mkdir(bin);
  await install("tunerank", `exec '${process.execPath}' '${program}' "$@"`);
  await install("npx", 'shift; exec "$@"');
  await writeRequests(path.join(folder, "requests.jsonl"), count);
  server.reply(rankingOf);
});
afterEach(() => remove());

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
  expect(server.requests.map(queryOf).sort()).toEqual(
    Array.from({ length: count }, (_, index) => `q${index}`).sort(),
  );
  const outputs = await Promise.all(
    indices(shards).map((index) => rowsOf(path.join(folder, `results.${index}.jsonl`))),
  );
  expect(outputs.filter((rows) => rows.length > 0).length).toBeGreaterThan(1);
  server.requests = [];
  const { exitCode, stdout } = await shell(recipe("join.sh"));
  expect([exitCode, stdout.split(", in ")[0]]).toEqual([0, `Ranked 0, ${count} done before`]);
  expect(server.requests).toHaveLength(0);
  const ids = (await rowsOf(path.join(folder, "results.jsonl"))).map(({ id }) => id);
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
  expect(outcomes.map(({ exitCode, stderr }) => [exitCode, stderr])).toEqual(
    indices(spec.completions).map(() => [0, ""]),
  );
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
  expect(outcomes.map(({ exitCode }) => exitCode)).toEqual(indices(8).map(() => 0));
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
