// The slow checks, which are not part of every run of CI: what each covers, and in lastRuns.json its last whole run. A check
// records that itself, or `npm run prove` at its end, when it ended well and left nothing out.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));
const file = new URL("lastRuns.json", import.meta.url);
// Read when a check loads this: what is committed while it runs is not what it covered.
const started = git("rev-parse", "--short=12", "HEAD");

export interface SlowCheck {
  readonly command: string;
  /** How long the command may take on two cores with nothing else to do. */
  readonly minutes: number;
  /** The files and folders in which a change may break what it checks; of a page only its code. */
  readonly covers: readonly string[];
}

export type SlowCheckName =
  | "firstHour"
  | `generators${"" | "Conformance"}`
  | "mutation"
  | "outage"
  | "package"
  | "proxies"
  | "runtimes"
  | "soak"
  | "temporal";

const call = ["src/call", "src/transport", "src/policy"];
const built = ["scripts/build", "package.json"];

export const slowChecks: Readonly<Record<SlowCheckName, SlowCheck>> = {
  firstHour: {
    command: "npm run check:first-hour -- --all",
    minutes: 5,
    covers: ["checks/first-hour", "README.md", ...built],
  },
  generators: {
    command: "npm run check:generators",
    minutes: 12,
    covers: ["checks/generators", "openapi.yaml", "scripts/build/contract.ts"],
  },
  generatorsConformance: {
    command: "npm run check:generators -- --conformance --all",
    minutes: 13,
    covers: ["checks/generators/conformance", "contract/conformance", "src/conformance"],
  },
  mutation: {
    command: "npm run mutate",
    minutes: 8,
    covers: ["src/errors/statusError.ts", "src/options/arguments.ts", "src/policy/retry.ts", "test/mutation"],
  },
  outage: { command: "npm run bench -- outage", minutes: 1, covers: ["bench/outage", ...call] },
  package: { command: "npm run check:package -- --all", minutes: 5, covers: ["checks/package", ...built] },
  proxies: {
    command: "npm run test:proxies -- --peers",
    minutes: 3,
    covers: ["checks/proxies", ...call],
  },
  runtimes: {
    command: "npm run check:runtimes",
    minutes: 3,
    covers: ["checks/runtimes", "src/files", "src/platform", ...call, ...built],
  },
  soak: { command: "npm run bench -- soak 5", minutes: 7, covers: ["bench/soak", ...call] },
  temporal: {
    command: "npm run check:integrations -- --temporal",
    minutes: 17,
    covers: [
      ...["src/adapters", "src/bulk", "src/policy", "checks/integrations", "checks/temporal"],
      "docs/guide/beyond-one-machine.md",
    ],
  },
};

interface LastRun {
  readonly commit: string;
  readonly date: string;
  /** A hash of what it covered: it says what changed after a rebase and in a shallow clone, too. */
  readonly sources: string;
}

export interface StaleCheck extends SlowCheck {
  readonly name: string;
  readonly why: string;
}

/**
 * Records that checks ended well and left nothing out, but for those that covered what is not committed. In `npm run prove`
 * the names are kept, and recorded when all checks have ended.
 */
export function recordRun(...names: readonly SlowCheckName[]): void {
  const { TUNERANK_PROVED: proved } = process.env;
  if (proved) {
    appendFileSync(proved, names.map((name) => `${name}\n`).join(""));
    return;
  }
  const date = new Date().toISOString().slice(0, 10);
  const all = { ...readRuns() };
  for (const name of names) {
    const { covers } = slowChecks[name];
    const changed = git("status", "--porcelain", "--", ...covers);
    if (changed === undefined || started === undefined) {
      console.log(`${name} is not recorded. ${noRepository}`);
      return;
    }
    const [first = ""] = changed.slice(2).trim().split("\n");
    if (first === "") all[name] = { commit: started, date, sources: sourcesOf(started, covers) };
    const whole = `scripts/lastRuns.json says that ${name} ran whole: commit it.`;
    console.log(first === "" ? whole : `${name} is not recorded: ${first} is not committed.`);
  }
  const lines = (Object.keys(slowChecks) as SlowCheckName[]).sort().flatMap((name) => {
    const run = all[name] && JSON.stringify(all[name], undefined, 1).replaceAll(/\n ?/g, " ");
    return run === undefined ? [] : `  ${JSON.stringify(name)}: ${run}`;
  });
  // One line each, as Biome formats it.
  writeFileSync(file, lines.length === 0 ? "{}\n" : `{\n${lines.join(",\n")}\n}\n`);
}

export const noRepository: string =
  "There is no Git repository here, so nobody knows which slow checks are older than what they cover.";

/** The slow checks that did not run whole since what they cover changed; undefined where there is no repository. */
export function staleChecks(): readonly StaleCheck[] | undefined {
  if (started === undefined) return undefined;
  const runs = readRuns();
  return Object.entries(slowChecks).flatMap(([name, check]) => {
    const run = runs[name];
    if (run?.sources === sourcesOf("HEAD", check.covers)) return [];
    const why = run === undefined ? "no whole run is recorded" : whatChanged(run, check.covers);
    return [{ name, ...check, why: `${name}: ${why}. Run it: ${check.command}` }];
  });
}

function whatChanged({ commit, date }: LastRun, covers: readonly string[]): string {
  const last = `last run whole on ${date} at ${commit}`;
  const commits = git("log", "--format=%h of %cs", `${commit}..HEAD`, "--", ...covers)?.split("\n");
  return commits === undefined
    ? `${last}; what it covers has changed since (this clone lacks that commit)`
    : `${last}; ${commits.length} commit${commits.length === 1 ? "" : "s"} since, the newest ${commits[0]}`;
}

function readRuns(): Record<string, LastRun> {
  return JSON.parse(readFileSync(file, "utf8"));
}

function sourcesOf(commit: string, covers: readonly string[]): string {
  const listed = (git("ls-tree", "-r", commit, "--", ...covers) ?? "").split("\n").map((line) => {
    // The words of a page break nothing.
    const [, page] = /\t(.+\.md)$/.exec(line) ?? [];
    return page === undefined ? line : codeOf(git("show", `${commit}:${page}`) ?? "");
  });
  return createHash("sha256").update(listed.join("\n")).digest("hex").slice(0, 16);
}

function codeOf(page: string): string {
  return (page.match(/^( *)```.*?^\1```/gms) ?? []).join("\n");
}

/** What git prints, or undefined where it fails. */
function git(...args: string[]): string | undefined {
  try {
    const stdio = ["ignore", "pipe", "ignore"] as const;
    return execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: [...stdio] }).trimEnd();
  } catch {
    return undefined;
  }
}
