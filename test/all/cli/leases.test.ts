import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { readdir, readFile, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { seededRandom } from "../../../bench/outage/random.js";
import { queryOf, rankingOf, rowsOf, writeRequests } from "../../support/bulkFiles.js";
import { buildWithLease, outcomeOf, start, startIn, tunerank } from "../../support/commandLine.js";
import { temporaryFolder } from "../../support/project.js";
import { useRecordingServer } from "../../support/recordingServer.js";
import { turns, until } from "../../support/turns.js";

const server = useRecordingServer();
let folder: string;
let remove: () => Promise<void>;
let input: string;
let output: string;
let errors: string;

beforeEach(async () => {
  ({ folder, remove } = await temporaryFolder());
  [input, output, errors] = ["in", "out", "errors"].map((name) => path.join(folder, `${name}.jsonl`)) as [
    string,
    string,
    string,
  ];
  server.reply(rankingOf);
});
afterEach(() => remove());

const staleMs = 3000;
// A tenth of the usual 30 s: what is full length says so.
const shortProgram = await buildWithLease(staleMs);
const short = (): { baseUrl: string; program: string } => ({ baseUrl: server.url, program: shortProgram });
const bulk = (...more: string[]): string[] => ["rerank", "--bulk", input, "--output", output, ...more];
const pids = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"];
const pod = (name: string): string[] => ["unshare", "--uts", "sh", "-c", `hostname ${name}; exec "$0" "$@"`];
const isAllowed = spawnSync("unshare", ["--pid", "--uts", "--fork", "--mount-proc", "true"]).status === 0;
if (!isAllowed) console.warn("Namespaces are not allowed here: those tests are skipped.");

/** Every id has one row, and no line is broken. */
async function expectAll(count: number): Promise<void> {
  const rows = await rowsOf(output);
  expect(rows.map(({ id }) => id).sort()).toEqual(Array.from({ length: count }, (_, at) => `r${at}`).sort());
  for (const { id, response } of rows) expect(response?.model).toBe(`for ${`${id}`.replace("r", "q")}`);
}

/** Holds back the responses to some requests until they are let go. */
function holding(isHeld: (query: string) => boolean): () => void {
  const held: (() => void)[] = [];
  let isOpen = false;
  server.reply((request, response) => {
    if (isOpen || !isHeld(queryOf(request))) return rankingOf(request);
    held.push(() => response.writeHead(200, json).end(JSON.stringify(rankingOf(request).json)));
    return undefined;
  });
  return () => {
    isOpen = true;
    for (const respond of held) respond();
  };
}
const json = { "content-type": "application/json" };

/** The command itself, where a program that was started runs it. */
function innermost(child: ChildProcess): number {
  let pid = child.pid ?? 0;
  for (;;) {
    const next = Number(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ")[0]);
    if (!next) return pid;
    pid = next;
  }
}

function namespaceOf(child: ChildProcess): string {
  return readlinkSync(`/proc/${innermost(child)}/ns/pid`);
}

const everywhere = [
  ["in two pid namespaces", pids, pids],
  ["under two host names", pod("pod-1"), pod("pod-2")],
  ["in two containers, both process 1, of one host name", [...pids, ...pod("web")], [...pids, ...pod("web")]],
] as const;

describe.skipIf(!isAllowed)("two runs on one volume", () => {
  test.each(everywhere)("%s do not both write: the second is refused", async (_, first, second) => {
    await writeRequests(input, 20);
    const respond = holding((query) => query === "q7");
    const owner = outcomeOf(startIn(first, bulk(), short()));
    await server.received(20);
    const refused = await outcomeOf(startIn(second, bulk(), short()));
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toMatch(/Another run is writing to --output: process \d+ on [\w-]+, for \d+ s\./);
    respond();
    expect((await owner).exitCode).toBe(0);
    await expectAll(20);
    expect(server.requests).toHaveLength(20);
  });

  test.each(everywhere)("%s: one that was killed is no obstacle to the next", async (_, first, second) => {
    await writeRequests(input, 20);
    const respond = holding((query) => query === "q7");
    const owner = startIn(first, bulk(), short());
    const outcome = outcomeOf(owner);
    await server.received(20);
    const number = namespaceOf(owner);
    process.kill(innermost(owner), "SIGKILL");
    await outcome;
    respond();
    // The system gives the number of a namespace that is gone to another, which then knows that it is gone.
    const others: ChildProcess[] = [];
    while (first.includes("--pid") && !others.some((other) => namespaceOf(other) === number)) {
      const other = spawn("unshare", ["--pid", "--fork", "--kill-child", "sleep", "600"]);
      others.push(other);
      await until(() => innermost(other) !== other.pid);
    }
    const next = await outcomeOf(startIn(second, bulk(), short()));
    for (const other of others) other.kill("SIGKILL");
    expect(next.exitCode).toBe(0);
    await expectAll(20);
    // Where nothing can be known of the other, it says what it waits for.
    if (first.includes("--pid")) {
      expect(next.stderr).toMatch(/^Waiting for --output, which process 1 on [\w-]+ may be writing: 3 s, /);
      expect(next.stderr).toContain("no sign of life for 3 s. This run takes it over.");
    } else expect(next.stderr).toBe("");
  });

  test("a /proc that is another namespace's kills no living run's lease", async () => {
    await writeRequests(input, 20);
    const respond = holding((query) => query === "q7");
    const noProc = ["unshare", "--pid", "--fork", "--kill-child"];
    const owner = outcomeOf(startIn(noProc, bulk(), short()));
    await server.received(20);
    expect((await outcomeOf(startIn(noProc, bulk(), short()))).exitCode).toBe(2);
    respond();
    expect((await owner).exitCode).toBe(0);
  });
});

/** An owner that sleeps for longer than its lease, while another run does its work. */
async function expectTakenOver(surroundings: { baseUrl: string; program?: string }): Promise<void> {
  await writeRequests(input, 200);
  const respond = holding((query) => Number(query.slice(1)) >= 150);
  const args = bulk("--concurrency", "100");
  const owner = start(args, surroundings);
  const outcome = outcomeOf(owner);
  await server.received(200);
  await until(() => readFileSync(output, "utf8").split("\n").length > 150);
  owner.kill("SIGSTOP");
  // Its response comes while it sleeps: what it wakes up with is written nowhere that is seen.
  respond();
  const next = await tunerank(args, surroundings);
  expect([next.exitCode, next.stdout]).toEqual([0, expect.stringMatching(/^Ranked 50, 150 already done/)]);
  expect(next.stderr).toContain("This run takes it over.");
  await expectAll(200);
  const whole = await readFile(output, "utf8");
  owner.kill("SIGCONT");
  const woken = await outcome;
  expect(woken.exitCode).toBe(1);
  expect(woken.stderr).toContain("tunerank: --output was");
  expect(woken.stdout).toBe("");
  expect(await readFile(output, "utf8")).toBe(whole);
  expect((await readdir(folder)).sort()).toEqual(["in.jsonl", "out.jsonl", "out.jsonl.run"]);
}

test("an owner that slept for longer than its lease ends with 1, and every id is once in the file", async () => {
  await expectTakenOver(short());
});

test("the same at full length: 30 seconds", async () => {
  await expectTakenOver({ baseUrl: server.url });
});

test("an owner that slept and wakes while the other still writes loses nothing for it", async () => {
  await writeRequests(input, 200);
  const respond = holding((query) => Number(query.slice(1)) >= 100);
  const args = bulk("--concurrency", "100");
  const owner = start(args, short());
  const outcome = outcomeOf(owner);
  await server.received(200);
  owner.kill("SIGSTOP");
  const next = outcomeOf(start(args, short()));
  await server.received(300);
  owner.kill("SIGCONT");
  await turns(50);
  respond();
  expect((await outcome).exitCode).toBe(1);
  expect((await next).exitCode).toBe(0);
  await expectAll(200);
});

test("a run that sleeps for less than its lease goes on", async () => {
  await writeRequests(input, 20);
  const respond = holding((query) => query === "q7");
  const owner = start(bulk(), { baseUrl: server.url });
  const outcome = outcomeOf(owner);
  await server.received(20);
  owner.kill("SIGSTOP");
  const next = outcomeOf(start(bulk("--wait"), { baseUrl: server.url }));
  await new Promise((resolve) => setTimeout(resolve, 4000));
  owner.kill("SIGCONT");
  respond();
  expect((await outcome).exitCode).toBe(0);
  expect((await next).exitCode).toBe(0);
  await expectAll(20);
  expect(server.requests).toHaveLength(20);
});

test("two runs that take turns and are killed at random moments leave one row for each id", async () => {
  const [requests, kills] = [600, 24];
  await writeRequests(input, requests);
  const random = seededRandom(Number(process.env.TUNERANK_SEED ?? 3));
  const args = bulk("--wait", "--quiet", "--concurrency", "8");
  const wrappers = isAllowed ? [[...pids, ...pod("a")], pod("b")] : [["env"], ["env"]];
  const begin = (at: number): ChildProcess => startIn(wrappers[at % 2] as string[], args, short());
  const running = [begin(0), begin(1)];
  for (let kill = 0; kill < kills; kill += 1) {
    const at = Math.floor(random() * 2);
    const before = server.requests.length;
    const most = Math.floor((random() * requests) / kills);
    const deadline = performance.now() + random() * 3000;
    await until(() => server.requests.length - before >= most || performance.now() > deadline);
    const child = running[at] as ChildProcess;
    const ended = child.exitCode === null ? once(child, "exit") : undefined;
    if (ended) process.kill(innermost(child), "SIGKILL");
    await ended;
    running[at] = begin(at);
  }
  const exits = await Promise.all(
    running.map(async (child) => child.exitCode ?? ((await once(child, "exit"))[0] as number)),
  );
  expect(exits).toEqual([0, 0]);
  await expectAll(requests);
  expect(readdirSync(folder).sort()).toEqual(["in.jsonl", "out.jsonl", "out.jsonl.run"]);
}, 600_000);

test("of eight runs that start at once, one runs", async () => {
  await writeRequests(input, 10);
  const respond = holding((query) => query === "q3");
  const runs = Array.from({ length: 8 }, () => outcomeOf(start(bulk(), short())));
  let ended = 0;
  for (const run of runs) void run.then(() => ended++);
  await until(() => ended === 7);
  respond();
  expect((await Promise.all(runs)).map(({ exitCode }) => exitCode).sort()).toEqual([0, 2, 2, 2, 2, 2, 2, 2]);
  await expectAll(10);
  expect(server.requests).toHaveLength(10);
});

test("two shards with one --errors lose no row: the second is refused, or waits", async () => {
  server.reply({ status: 400, json: { code: "INVALID_ARGUMENT", message: "No." } });
  const shards = await Promise.all(
    [0, 1].map(async (shard) => {
      const [file, rows] = [path.join(folder, `in-${shard}`), path.join(folder, `out-${shard}`)];
      const lines = Array.from({ length: 100 }, (_, at) =>
        JSON.stringify({ id: `s${shard}-${at}`, query: "q", documents: ["one"] }),
      );
      await writeFile(file, `${lines.join("\n")}\n`);
      return ["rerank", "--bulk", file, "--output", rows, "--errors", errors, "--concurrency", "2"];
    }),
  );
  let responded = 0;
  const waiting: (() => void)[] = [];
  server.reply((_, response) => {
    const respond = (): void => {
      response.writeHead(400, json).end('{"code":"INVALID_ARGUMENT","message":"No."}');
    };
    if (responded++ < 50) respond();
    else waiting.push(respond);
    return undefined;
  });
  const [first, second] = shards as [string[], string[]];
  const owner = outcomeOf(start(first, short()));
  await until(() => waiting.length > 0);
  const refused = await tunerank(second, short());
  expect([refused.exitCode, refused.stderr]).toEqual([
    2,
    expect.stringContaining("Another run is writing to --errors: process"),
  ]);
  const patient = outcomeOf(start([...second, "--wait"], short()));
  server.reply({ status: 400, json: { code: "INVALID_ARGUMENT", message: "No." } });
  for (const respond of waiting) respond();
  expect((await owner).exitCode).toBe(5);
  expect((await patient).exitCode).toBe(5);
  expect(new Set((await rowsOf(errors)).map(({ id }) => id)).size).toBe(200);
});

test("an output that is moved away ends the run with 1 and words, and has all rows when it is moved back", async () => {
  await writeRequests(input, 20);
  const respond = holding((query) => query === "q7");
  const outcome = outcomeOf(start(bulk(), short()));
  await server.received(20);
  await until(() => readdirSync(folder).includes("out.jsonl"));
  await rename(output, path.join(folder, "mine"));
  respond();
  const { exitCode, stdout, stderr } = await outcome;
  expect([exitCode, stdout]).toEqual([1, ""]);
  expect(stderr).toContain(
    "tunerank: --output was moved or replaced while this run was writing it: its rows are in the file that was moved. Move that back first.",
  );
  await rename(path.join(folder, "mine"), output);
  expect((await outcomeOf(start(bulk(), short()))).exitCode).toBe(0);
  expect(server.requests).toHaveLength(20);
  await expectAll(20);
});

test("a checkpoint of uploads is held in the same way, and no file is sent twice", async () => {
  const files = ["a", "b"].map((name) => path.join(folder, name));
  for (const file of files) await writeFile(file, "text");
  const stored = { json: { id: "f-1", bytes: 4, filename: "f" } };
  let respond = (): void => {};
  server.reply((_, response) => {
    respond = () => response.writeHead(200, json).end(JSON.stringify(stored.json));
    return undefined;
  });
  const args = ["upload", "reviews", ...files, "--checkpoint", path.join(folder, "uploads"), "--quiet"];
  const owner = start(args, short());
  const outcome = outcomeOf(owner);
  await server.received(1);
  expect((await tunerank(args, short())).stderr).toContain("Another run is writing to --checkpoint: process");
  owner.kill("SIGSTOP");
  respond();
  server.reply(stored);
  // What was being sent may be stored.
  expect((await tunerank(args, short())).exitCode).toBe(6);
  owner.kill("SIGCONT");
  const woken = await outcome;
  expect([woken.exitCode, woken.stderr]).toEqual([1, expect.stringContaining("--checkpoint was taken over")]);
  expect(server.requests.map(({ files: [file] }) => file?.filename)).toEqual(["a", "b"]);
});

test("an upload is not sent once the checkpoint is another's, however lately that was looked at", async () => {
  const files = ["a", "b"].map((name) => path.join(folder, name));
  for (const file of files) await writeFile(file, "text");
  const checkpoint = path.join(folder, "uploads");
  server.reply((_, response) => {
    // The lease is not renewed before the test ends.
    rmSync(`${checkpoint}.run`);
    response.writeHead(200, json).end('{"id":"f-1","bytes":4,"filename":"a"}');
    return undefined;
  });
  const args = ["upload", "reviews", ...files, "--checkpoint", checkpoint];
  const program = await buildWithLease(6_000_000);
  const { exitCode, stderr } = await tunerank(args, { baseUrl: server.url, program });
  expect([exitCode, stderr]).toEqual([
    1,
    expect.stringContaining(
      "The file beside --checkpoint whose name ends in .run was moved, removed or replaced",
    ),
  ]);
  expect(server.requests).toHaveLength(1);
});

test.skipIf(!isAllowed)(
  "a full disk while the lease is taken is told in words, and leaves nothing",
  async () => {
    await writeRequests(input, 3);
    // The disk is the folder of the output, which is full but for the name of a file.
    const script = [
      'mount -t tmpfs -o size=8k,nr_inodes=20 none "$DISK" && head -c 8192 /dev/zero > "$DISK/filler"',
      '"$0" "$@"; code=$?; ls "$DISK"; exit $code',
    ].join("; ");
    const full = ["unshare", "--mount", "sh", "-c", script];
    const disk = path.join(folder, "disk");
    spawnSync("mkdir", [disk]);
    const args = ["rerank", "--bulk", input, "--output", path.join(disk, "out.jsonl")];
    const surroundings = { baseUrl: server.url, env: { DISK: disk } };
    const { exitCode, stdout, stderr } = await outcomeOf(startIn(full, args, surroundings));
    expect([exitCode, stderr, stdout]).toEqual([
      1,
      "tunerank: --output cannot be written: ENOSPC: no space left on device. Nothing was sent.\n",
      "filler\n",
    ]);
    expect(server.requests).toHaveLength(0);
  },
);

test("a folder that cannot be written is refused in words", async () => {
  await writeRequests(input, 1);
  const { exitCode, stderr } = await tunerank(
    ["rerank", "--bulk", input, "--output", "/proc/self/out.jsonl"],
    { baseUrl: server.url },
  );
  expect(exitCode).toBe(2);
  expect(stderr).toMatch(/^tunerank: --output cannot be written: E[A-Z]+: .*\. Nothing was sent\.\n/);
});

test("a run that is killed while it begins is no obstacle", async () => {
  await writeRequests(input, 3);
  const random = seededRandom(11);
  for (let kill = 0; kill < 40; kill += 1) {
    const child = start(bulk("--quiet"), { baseUrl: server.url });
    const ended = once(child, "exit");
    // Around the moment at which the file beside is made.
    await until(() => child.exitCode !== null || readdirSync(folder).some((name) => name.includes(".run")));
    await turns(Math.floor(random() * 3));
    child.kill("SIGKILL");
    await ended;
  }
  const started = performance.now();
  const { exitCode, stderr } = await tunerank(bulk(), { baseUrl: server.url });
  expect([exitCode, stderr]).toEqual([0, ""]);
  expect(performance.now() - started).toBeLessThan(20_000);
  await expectAll(3);
});
