import { appendFile, cp, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { Results } from "../../bench/results.js";
import { benchmarksPart } from "../../docs/build/measured.js";
import { type Outcome, root, run, temporaryFolder } from "../support/project.js";

const read = (file: string) => readFile(new URL(`../../${file}`, import.meta.url), "utf8");
const results = JSON.parse(await read("bench/results.json"));
// It is JavaScript of the bench, without types.
const fromBench = (file: string) => import(new URL(`../../bench/${file}`, import.meta.url).href);
const newest = Object.keys(results)
  .map(Number)
  .sort((a, b) => b - a)[0] as number;

test.each(["docs/public/outage.svg", "docs/public/bulk.svg"])(
  "%s has a label for its unit, and fits a phone without shrinking",
  async (file) => {
    const drawn = await read(file);
    expect(Number(/ width="(\d+)"/.exec(drawn)?.[1])).toBeLessThanOrEqual(400);
    expect(drawn).toMatch(/class="note"[^>]*>[^<]*(requests sent for each call|responses a second)/);
    for (const [, size] of drawn.matchAll(/font(?:-size)?: (\d+)px/g))
      expect(Number(size)).toBeGreaterThanOrEqual(13);
  },
);

test("no guide has a measured figure that is not made of the results", async () => {
  for (const guide of ["benchmarks", "request", "runtimes", "bulk", "beyond-one-machine", "dispatchers"]) {
    const text = await read(`docs/guide/${guide}.md`);
    expect(
      text.match(/\d[\d.]* (?:ms|µs) of CPU|\d[\d.]* kB|adds? \d+ ms|\d %[a-z ]* CPU/g),
      guide,
    ).toBeNull();
  }
});

test("every scenario of the bench has a bound, on every Node that is measured", async () => {
  const [{ bounds, scenarios }, { scenarios: there }] = await Promise.all(
    ["bounds.js", "scenarios.js"].map(fromBench),
  );
  // The bench measures what has a bound: another scenario would never run.
  expect([...scenarios].sort()).toEqual(Object.keys(there).sort());
  for (const scenario of scenarios)
    for (const major of [20, 22, 24, 26]) {
      const own = bounds.filter((bound: typeof results) => bound.scenario === scenario);
      const limits = own.map((bound: typeof results) => bound.exactly ?? bound.atMost(major));
      expect(limits.some(Number.isFinite), `${scenario} on Node ${major}`).toBe(true);
    }
});

describe("a figure that is older than src/call or src/transport", () => {
  let copy: Awaited<ReturnType<typeof temporaryFolder>>;
  const inCopy = (...args: readonly string[]): Promise<Outcome> =>
    run(process.execPath, args, { cwd: copy.folder });
  const release = () => inCopy("--import", import.meta.resolve("tsx"), "scripts/release.ts");
  const all = async (): Promise<Record<string, Results>> =>
    JSON.parse(await readFile(path.join(copy.folder, "bench/results.json"), "utf8"));
  const { sources: _, ...figures } = results[newest].scenarios.cpuPerCall;
  const { sources: __, ...oneAtATime } = results[newest].scenarios.cpuOneAtATime;
  const entry = { ...results[newest], scenarios: { cpuPerCall: figures, cpuOneAtATime: oneAtATime } };

  beforeAll(async () => {
    copy = await temporaryFolder();
    for (const part of [
      "package.json",
      "bench/results.js",
      "scripts/lastRuns.json",
      "scripts/lastRuns.ts",
      "scripts/release.ts",
      "src/call",
      "src/transport",
    ])
      await cp(path.join(root, part), path.join(copy.folder, part), { recursive: true });
    for (const contract of ["openapi.yaml", "contract/baseline/openapi.yaml"])
      await cp(path.join(root, "openapi.yaml"), path.join(copy.folder, contract));
    await writeFile(
      path.join(copy.folder, "CHANGELOG.md"),
      `## ${JSON.parse(await read("package.json")).version}\n`,
    );
    const add = `import("./bench/results.js").then(({ addResults }) => addResults(26, ${JSON.stringify(entry)}))`;
    await inCopy("-e", add);
  });
  afterAll(() => copy.remove());

  test("is not shown; what was just measured is, each bar as long as its figure", async () => {
    expect((await benchmarksPart([entry as Results])).text).toMatch(/^No figures: /);
    const { text } = await benchmarksPart(Object.values(await all()));
    const rows = [...text.matchAll(/<th scope="row">(.*?)<.*?width:([\d.]+)%.*?<td>(\d+) µs/g)];
    const longest = Math.max(...rows.map(([, , , value]) => Number(value)));
    expect(rows.map(([, label]) => label)).toContain("tunerank");
    for (const [, , percent, value] of rows)
      expect(Math.abs(Number(percent) - (100 * Number(value)) / longest)).toBeLessThan(1);
    expect(rows.map(([, , , value]) => Number(value))).toContain(Math.round(figures.medians.tunerank));
    const [, ...cells] = /^\|CPU per small rerank call, one at a time, µs\|(.*?)\|(.*?)\|/m.exec(text) ?? [];
    const { tunerank, tunerankDispatcher } = oneAtATime.medians;
    expect(Number(cells[0])).toBeCloseTo(tunerank, 0);
    expect(Number(cells[1])).toBeCloseTo(tunerankDispatcher, 0);
    expect(text).toContain(`Node ${entry.node}, ${oneAtATime.date.slice(0, 10)}, `);
  });

  test("is refused at a release, by name", async () => {
    expect(await release()).toMatchObject({ exitCode: 0, stderr: "" });
    await appendFile(path.join(copy.folder, "src/transport/node/transport.ts"), "// Changed.\n");
    const { exitCode, stderr } = await release();
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`- Node ${entry.node}: cpuPerCall, cpuOneAtATime\n`);
    expect(stderr).toContain("npm run bench -- --older --node PATH");
  });

  test("is looked for before anything is packed", async () => {
    const { jobs } = parse(await read(".github/workflows/publish.yml"));
    const commands = jobs.pack.steps.map((step: { run?: string }) => step.run ?? "");
    const check = commands.indexOf("npx tsx scripts/release.ts");
    expect(check).toBeGreaterThan(-1);
    expect(check).toBeLessThan(commands.findIndex((command: string) => command.includes("npm pack")));
  });
});
