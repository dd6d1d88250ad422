import { execFileSync } from "node:child_process";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { installPackedPackage, type PackedPackage } from "../support/packedPackage.js";
import { root } from "../support/project.js";

type Measure = (options: object) => Promise<Readonly<Record<string, readonly number[]>>>;
// It is JavaScript, without types.
const bench = await import(new URL("../../bench/scenarios.js", import.meta.url).href);
const { bundleSize, manyAtOnce, uploadMemory } = bench.scenarios as Readonly<
  Record<"bundleSize" | "manyAtOnce" | "uploadMemory", { readonly measure: Measure }>
>;

let packed: PackedPackage;
let entry: string;

beforeAll(async () => {
  packed = await installPackedPackage();
  entry = path.join(packed.installed, "dist", "index.js");
});

afterAll(() => packed.remove());

test("an upload of 150 MB from a path needs at most 40 MB of memory, also when it is repeated", async () => {
  const contestants = ["tunerank", "tunerank, one retry"];
  const megabytes = await uploadMemory.measure({ contestants, rounds: 1, entry });
  for (const contestant of contestants) expect(megabytes[contestant]?.[0]).toBeLessThanOrEqual(40);
});

test("2,000 calls at once all settle over at most 128 sockets", async () => {
  const figures = await manyAtOnce.measure({ calls: 2000, rounds: 1, entry });
  expect(figures["calls fulfilled"]).toEqual([2000]);
  expect(figures["sockets at the server"]?.[0]).toBeLessThanOrEqual(128);
  expect(figures["warnings of Node"]).toEqual([0]);
});

// bench/NOTES.md lists what each part costs.
test("what a page loads first has at most 17.85 kB, and all of it in one file 36.95 kB, minified and gzipped", async () => {
  const bytes = await bundleSize.measure({ entry });
  expect(bytes["loaded first, minified and gzipped"]?.[0]).toBeLessThanOrEqual(17_850);
  expect(bytes["all in one file, minified and gzipped"]?.[0]).toBeLessThanOrEqual(36_950);
});

// The processor's seconds of ten processes, as the shell that waited for them adds them up.
function secondsOfTen(...args: string[]): number {
  const script = 'i=0; while [ $i -lt 10 ]; do "$@" >/dev/null; i=$((i+1)); done; times';
  const said = execFileSync("sh", ["-c", script, "sh", process.execPath, ...args], { encoding: "utf8" });
  const times = [...(said.trim().split("\n").at(-1) ?? "").matchAll(/(\d+)m([\d.]+)s/g)];
  return times.reduce((sum, [, minutes, seconds]) => sum + Number(minutes) * 60 + Number(seconds), 0);
}

test("`tunerank --help` takes at most half as much again as an empty Node", () => {
  const command = path.join(packed.installed, "dist/cli/main.js");
  const empty = path.join(root, "bench/empty.js");
  // The least of four rounds by turns: what else runs on the machine only adds.
  let [own, bare] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let round = 0; round < 4; round++) {
    own = Math.min(own, secondsOfTen(command, "--help"));
    bare = Math.min(bare, secondsOfTen(empty));
  }
  expect(own / bare).toBeLessThanOrEqual(1.5);
});
