import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, statSync, utimesSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, truncate, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { CheckpointFile, waitOptionsOf } from "../../src/cli/checkpoints/checkpointFile.js";
import { runFileText } from "../../src/cli/checkpoints/runFile.js";
import { createTerminal } from "../../src/cli/terminal.js";
import { useTestClock } from "../support/clock.js";
import { temporaryFolder } from "../support/project.js";
import { isPending, turns, until } from "../support/turns.js";

const clock = useTestClock();
let folder: string;
let remove: () => Promise<void>;
let output: string;
let notes: string[];
let controller: AbortController;
let refused: number;
const taken: CheckpointFile[] = [];

beforeEach(async () => {
  ({ folder, remove } = await temporaryFolder());
  output = path.join(folder, "out.jsonl");
  notes = [];
  refused = 0;
  controller = new AbortController();
});
afterEach(async () => {
  for (const file of taken.splice(0)) {
    try {
      file.close(false);
    } catch {
      // It was lost, as the test says.
    }
  }
  await remove();
});

const fingerprint = "a-whole_fingerprint_22";
const rowOf = (id: string) => ({ id, fingerprint, response: { data: [] } });
const textsOf = (...ids: string[]): string => ids.map((id) => `${JSON.stringify(rowOf(id))}\n`).join("");

/** A run that wants the output. */
async function take(run: string, wait = false): Promise<CheckpointFile> {
  const { signal } = controller;
  const note = (line: string) => void notes.push(line);
  const source = { path: output, option: "--output", kind: "rerank output" } as const;
  const file = await CheckpointFile.take(source, run, { wait, signal, note, staleMs: 30_000 }).catch(
    (error) => {
      refused += 1;
      throw error;
    },
  );
  taken.push(file);
  return file;
}

/** Resolves once so many watch or renew. */
const begun = (count: number): Promise<void> => until(() => clock.waiting === count);

/** Lets time pass while others watch, who look four times a second, and renew, which the disk takes its time for. */
async function passing(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 50) {
    const before = clock.waiting + refused;
    clock.pass(50);
    // Whoever has got the file meanwhile waits for less from now on: a second of real time tells.
    const endsAt = process.hrtime.bigint() + 1_000_000_000n;
    await until(() => clock.waiting + refused >= before || process.hrtime.bigint() > endsAt);
  }
}

/** The output as a run on another machine left it, of which no more is heard. */
async function leftElsewhere(counter = 3): Promise<void> {
  await writeFile(output, textsOf("a", "b"));
  const lease = { token: "t", counter, heldMs: 9000, host: "pod-1", pid: 1, boot: "another", began: "7" };
  const state = { format: 1, kind: "rerank output", run: "r", lease: { ...lease, pidNamespace: "pid:[1]" } };
  await writeFile(`${output}.run`, runFileText(state as never));
}

const stateOf = () => JSON.parse(readFileSync(`${output}.run`, "utf8"));

test("a run says every three seconds that it lives", async () => {
  await take("first");
  const counts = [];
  for (let seen = 0; seen < 4; seen += 1) {
    const { counter, heldMs } = stateOf().lease;
    counts.push([counter, heldMs]);
    await clock.waitsFor(3000);
    clock.pass(3000);
  }
  expect(counts).toEqual([
    [0, 0],
    [1, 3000],
    [2, 6000],
    [3, 9000],
  ]);
});

test("a second run that sees the first one live is refused, with its host and age", async () => {
  await take("first");
  await clock.waitsFor(3000);
  clock.pass(3000);
  await clock.waitsFor(3000);
  const second = take("second");
  const outcome = second.catch((error: Error) => error.message);
  await begun(2);
  await passing(2900);
  expect(await isPending(outcome)).toBe(true);
  expect(notes).toEqual([
    `Waiting for --output, which process ${process.pid} on ${hostname()} may be writing: 30 s, or until it gives a sign of life.`,
  ]);
  await passing(500);
  expect(await outcome).toBe(
    `Another run is writing to --output: process ${process.pid} on ${hostname()}, for 6 s. Wait for its end, or add --wait.`,
  );
});

test("with --wait it waits for the end of the first, and says for how long", async () => {
  const first = await take("first");
  const second = take("second", true);
  await begun(2);
  await passing(25_000);
  expect(await isPending(second)).toBe(true);
  const waiting = `Waiting for --output, which process ${process.pid} on ${hostname()} may be writing`;
  expect(notes).toEqual([
    `${waiting}: until it ends, or is silent for 30 s.`,
    `${waiting}, for 10 s so far.`,
    `${waiting}, for 20 s so far.`,
  ]);
  taken.shift();
  first.open();
  first.close(true);
  await passing(250);
  await second;
  expect(stateOf().run).toBe("second");
});

test.each([
  ["behind", -3_600_000],
  ["before", 3_600_000],
])(
  "a lease is stale after 30 seconds by the watcher's own clock, with the other's an hour %s",
  async (_, by) => {
    await leftElsewhere();
    const other = new Date(Date.now() + by);
    utimesSync(`${output}.run`, other, other);
    const second = take("second");
    await turns();
    await passing(29_900);
    expect(await isPending(second)).toBe(true);
    await passing(250);
    await second;
    expect(notes.at(-1)).toBe("--output: no sign of life for 30 s. This run takes it over.");
    expect(stateOf().lease.token).not.toBe("t");
    expect(await readFile(output, "utf8")).toBe(textsOf("a", "b"));
  },
);

test("an owner whose file was taken over writes into nothing visible, and is told", async () => {
  const first = await take("first");
  const rows = first.open();
  rows.add(rowOf("a"));
  // Another machine has taken it meanwhile, and is gone too.
  await rm(`${output}.run`);
  await leftElsewhere();
  await writeFile(output, textsOf("a"));
  await clock.passWhenWaiting(3000);
  await until(() => first.signal.aborted);
  const second = take("second");
  await begun(1);
  await passing(30_250);
  const file = await second;
  await file.read(() => {});
  rows.add(rowOf("late"));
  file.open().add(rowOf("b"));
  expect(await readFile(output, "utf8")).toBe(textsOf("a", "b"));
  expect(first.signal.reason.message).toBe(
    "--output was taken over by another run, process 1 on pod-1, which saw no sign of life of this one. What this run wrote since then is not in it: run the same command again, once no other run writes it.",
  );
  expect(() => first.close(true)).toThrow("was taken over by another run");
  expect(stateOf().run).toBe("second");
});

test("a take-over that cannot copy the rows leaves it to the next, at once", async () => {
  await leftElsewhere();
  await mkdir(`${output}.run.rows`);
  const second = take("second").catch((error: Error) => error.message);
  await begun(1);
  await passing(30_250);
  expect(await second).toMatch(/^--output cannot be written: E[A-Z]+: .*\. Nothing was sent\.$/);
  await rm(`${output}.run.rows`, { recursive: true });
  const { ino } = statSync(output);
  await take("third");
  expect(statSync(output).ino).not.toBe(ino);
  expect(await readFile(output, "utf8")).toBe(textsOf("a", "b"));
});

test("of many that see the same stale lease, one takes it, and the others see it live", async () => {
  await leftElsewhere();
  const outcomes = ["b", "c", "d", "e"].map((run) =>
    take(run).then(
      () => `${run} has it`,
      (error: Error) => error.message.slice(0, 37),
    ),
  );
  await begun(4);
  await passing(40_000);
  const ended = (await Promise.all(outcomes)).sort();
  expect(ended.filter((each) => each.endsWith("has it"))).toHaveLength(1);
  expect(ended.filter((each) => each === "Another run is writing to --output: p")).toHaveLength(3);
});

test("a process of this machine that is gone is not waited for", async () => {
  const gone = spawn(process.execPath, ["-e", ""]);
  await once(gone, "exit");
  const first = await take("first");
  first.open();
  const { lease, ...state } = stateOf();
  taken.shift();
  first.close(true);
  for (const left of [
    { ...lease, pid: gone.pid },
    { ...lease, began: "1" },
  ]) {
    await writeFile(`${output}.run`, runFileText({ ...state, lease: left }));
    (await take("second")).close(true);
  }
  expect(notes).toEqual([]);
});

test.each([
  ["written whole", 250],
  ["empty", 3250],
])("what a run that was killed while it began left, %s, is removed", async (how, ms) => {
  const gone = spawn(process.execPath, ["-e", ""]);
  await once(gone, "exit");
  await take("first");
  const { lease, ...state } = stateOf();
  taken.shift()?.close(true);
  const left = how === "empty" ? "" : runFileText({ ...state, lease: { ...lease, pid: gone.pid } });
  await writeFile(`${output}.run.next`, left);
  const second = take("second");
  await begun(1);
  await passing(ms);
  await second;
  expect((await readdir(folder)).sort()).toEqual(["out.jsonl.run"]);
});

test("a file beside that a power cut left empty is taken after 30 seconds, when the rows show what the file is", async () => {
  await writeFile(output, textsOf("a"));
  await writeFile(`${output}.run`, "\0".repeat(100));
  const second = take("second");
  await begun(1);
  await passing(30_250);
  await second;
  await rm(`${output}.run`);
  await writeFile(`${output}.run`, "");
  await writeFile(output, "somebody's");
  await expect(take("third")).rejects.toThrow("--output, line 1, is not a row of a bulk run.");
});

const moved =
  "--output was moved or replaced while this run was writing it: its rows are in the file that was moved. Move that back first.";
const removed = "--output was removed or replaced while this run was writing it.";
const inPlace =
  "The file beside --output whose name ends in .run was moved, removed or replaced while this run was writing --output.";

test.each([
  ["the output is moved away", () => rename(output, `${output}.mine`), moved, undefined],
  [
    "the output is moved, and another file is there",
    () => rename(output, `${output}.mine`).then(() => writeFile(output, "")),
    moved,
    undefined,
  ],
  ["the output is removed", () => rm(output), removed, ["a", "late"]],
  [
    "another file is moved over the output",
    () => writeFile(`${output}.mine`, "").then(() => rename(`${output}.mine`, output)),
    removed,
    ["a", "late"],
  ],
  ["the file beside is removed", () => rm(`${output}.run`), inPlace, ["late"]],
])("when %s, a run sends nothing more, and keeps what is in flight", async (_, change, why, rescued) => {
  const file = await take("first");
  const rows = file.open();
  rows.add(rowOf("a"));
  await change();
  await clock.passWhenWaiting(3000);
  await until(() => rows.changed.aborted);
  // What is in flight is not cancelled: it is paid for.
  expect(file.signal.aborted).toBe(false);
  expect(() => file.check()).toThrow("was moved, removed or replaced");
  rows.add(rowOf("late"));
  taken.shift();
  expect(() => file.close(true)).toThrow(why);
  if (rescued) expect(await readFile(`${output}.rescued`, "utf8")).toBe(textsOf(...rescued));
  else expect(await readFile(`${output}.mine`, "utf8")).toBe(textsOf("a", "late"));
});

test("an output that was moved at the end of a run is told, with its rows in the file that was moved", async () => {
  const file = await take("first");
  file.open().add(rowOf("a"));
  await rename(output, `${output}.mine`);
  taken.shift();
  expect(() => file.close(true)).toThrow(`${moved} Then run the same command again`);
  expect(await readFile(`${output}.mine`, "utf8")).toBe(textsOf("a"));
  // Moved back, it is nobody's, and goes on.
  expect(stateOf().lease).toBeUndefined();
});

test.each([
  ["is removed", () => rm(output), false],
  ["is replaced", () => rename(output, `${output}.mine`).then(() => writeFile(output, "{}")), true],
  ["is cut", () => truncate(output, 5), true],
])("an output that %s between its check and its use is not filled with zeros", async (_, change, isThere) => {
  await writeFile(output, textsOf("a", "b"));
  const file = await take("first");
  await file.read(() => {});
  await change();
  const left = isThere ? await readFile(output) : undefined;
  expect(() => file.open()).toThrow(/^--output (was moved, removed or replaced|has changed)/);
  expect(existsSync(output) ? await readFile(output) : undefined).toEqual(left);
});

test("a file that somebody makes while a new output is checked is left as it is", async () => {
  const file = await take("first");
  await file.read(() => {});
  await writeFile(output, "mine");
  expect(() => file.open()).toThrow("--output was moved, removed or replaced");
  expect(await readFile(output, "utf8")).toBe("mine");
});

test.each([
  [{ json: true, quiet: false }, ['{"note":"Waiting."}\n']],
  [{ json: false, quiet: false }, ["Waiting.\n"]],
  [{ json: false, quiet: true }, []],
])("what a run waits for is told on stderr with %j", (shown, told) => {
  const terminal = createTerminal({ ...shown, color: false });
  const { signal } = controller;
  const written = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  waitOptionsOf({ signal, terminal, leaseMs: 1 } as never, false).note("Waiting.");
  const lines = written.mock.calls.map(([line]) => line);
  written.mockRestore();
  expect(lines).toEqual(told);
});

test("a wait ends with the signal, and leaves nothing behind", async () => {
  await leftElsewhere();
  const before = await readFile(`${output}.run`, "utf8");
  const second = take("second", true).catch((error: Error) => error.name);
  await begun(1);
  await passing(1000);
  controller.abort();
  expect(await second).toBe("AbortError");
  expect(await readFile(`${output}.run`, "utf8")).toBe(before);
  expect(clock.waiting).toBe(0);
});

test("two options that name one file by names that nobody can compare are refused", async () => {
  await take("same");
  await expect(take("same")).rejects.toThrow("Two options name one file");
});

test("a file of a newer version is left as it is", async () => {
  await writeFile(`${output}.run`, '{"format":2,"kind":"rerank output","run":"r"}');
  await expect(take("first")).rejects.toThrow(
    "--output was written by a newer version of tunerank: use that.",
  );
});

// What a file holds, whoever wrote it, does not reach a terminal as it is.
const hostile = "pod\u001b]0;mine\u0007\u001b[31m\u202e\u200b\nline";
const shown = "pod\\u001b]0;mine\\u0007\\u001b[31m\\u202e\\u200b\\nline";

test.each(["while it waits", "as it is refused", "as it is taken over"])(
  "the host in the file beside is printed escaped, %s",
  async (when) => {
    await leftElsewhere();
    const state = JSON.parse(await readFile(`${output}.run`, "utf8"));
    const writeLease = (counter: number): Promise<void> => {
      const lease = { ...state.lease, counter, host: hostile };
      return writeFile(`${output}.run`, runFileText({ ...state, lease }));
    };
    await writeLease(3);
    if (when === "as it is taken over") {
      await rm(`${output}.run`);
      const first = await take("first");
      await writeLease(4);
      expect(() => first.check()).toThrow(`by another run, process 1 on ${shown}, which`);
      return;
    }
    const second = take("second", when === "while it waits").catch((error: Error) => error.message);
    await begun(1);
    expect(notes).toEqual([expect.stringContaining(`which process 1 on ${shown} may be writing`)]);
    if (when === "as it is refused") {
      await writeLease(4);
      await passing(1000);
    } else controller.abort();
    const message = await second;
    if (when === "as it is refused") expect(message).toContain(`process 1 on ${shown}, for 9 s`);
  },
);

test("a host without end is cut, and what is printed as a number is one", async () => {
  await leftElsewhere();
  const state = JSON.parse(await readFile(`${output}.run`, "utf8"));
  const other = { ...state, lease: { ...state.lease, host: "x".repeat(300) } };
  await writeFile(`${output}.run`, runFileText(other));
  const second = take("second", true).catch(() => {});
  await begun(1);
  expect(notes[0]?.length).toBeLessThan(250);
  controller.abort();
  await second;
  for (const wrong of [{ pid: "1\u001b[31m" }, { heldMs: "9\u001b[31m" }]) {
    await writeFile(`${output}.run`, JSON.stringify({ ...state, lease: { ...state.lease, ...wrong } }));
    await expect(take("third")).rejects.toThrow("is no file of this command");
  }
});

test.each(["kind", "shard"])("the %s in the file beside is printed escaped", async (name) => {
  await leftElsewhere();
  const state = JSON.parse(await readFile(`${output}.run`, "utf8"));
  await writeFile(`${output}.run`, runFileText({ ...state, [name]: hostile }));
  await expect(take("second")).rejects.toThrow(shown);
});
