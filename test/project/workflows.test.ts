import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { root, run, temporaryFolder } from "../support/project.js";

describe("the workflows", () => {
  interface Step {
    readonly name?: string;
    readonly uses?: string;
    readonly run?: string;
  }

  interface Job {
    readonly permissions?: Readonly<Record<string, string>>;
    readonly steps: readonly Step[];
  }

  interface Workflow {
    readonly permissions?: Readonly<Record<string, string>>;
    readonly jobs: Readonly<Record<string, Job>>;
  }

  const folder = path.join(root, ".github/workflows");
  const read = (file: string): string => readFileSync(path.join(folder, file), "utf8");
  const workflows = readdirSync(folder);

  describe.each(workflows)("the workflow %s", (file) => {
    const { permissions, jobs } = parse(read(file)) as Workflow;
    const steps = Object.values(jobs).flatMap((job) => job.steps);
    const commands = steps.flatMap(({ run = "" }) => run.split("\n"));

    test("uses actions by their commit", () => {
      for (const { uses } of steps) if (uses) expect(uses).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40}$/);
    });

    test("installs dependencies without running their scripts", () => {
      const installs = commands.filter((command) => /\bnpm (ci|install)\b/.test(command));
      for (const command of installs) expect(command).toContain("--ignore-scripts");
    });

    test("lets a job that may sign or write run nothing of the project", () => {
      expect(permissions).toEqual({ contents: "read" });
      for (const job of Object.values(jobs)) {
        if (!Object.values(job.permissions ?? {}).includes("write")) continue;
        expect(job.steps.filter(({ uses }) => uses?.startsWith("actions/checkout@"))).toEqual([]);
        const run = job.steps.flatMap((step) => step.run ?? []).join("\n");
        expect(run).not.toMatch(/\bnpm (ci|install|run|test|pack|pkg|exec)\b|\bnpx\b|\bnode\b/);
        for (const [, options] of run.matchAll(/\bnpm publish\b(.*)/g))
          expect(options).toContain("--ignore-scripts");
      }
    });
  });

  test("what is published is what the job that cannot sign has packed", () => {
    const { jobs } = parse(read("publish.yml")) as Workflow;
    const signing = Object.entries(jobs).filter(
      ([, { permissions }]) => permissions?.["id-token"] === "write",
    );
    expect(signing.map(([name]) => name)).toEqual(["npm"]);
    expect(jobs.npm?.steps.map(({ uses, run }) => uses?.split("@")[0] ?? run)).toEqual([
      "actions/setup-node",
      "actions/download-artifact",
      "npm publish ./packed/*.tgz --provenance --access public --ignore-scripts",
    ]);
  });

  test("the published package names the repository that published it", async () => {
    const { jobs } = parse(read("publish.yml")) as Workflow;
    const step = jobs.pack?.steps.find(({ name }) => name === "The package names this repository");
    const { folder, remove } = await temporaryFolder();
    writeFileSync(path.join(folder, "package.json"), '{ "name": "tunerank" }');
    const env = { GITHUB_SERVER_URL: "https://github.com", GITHUB_REPOSITORY: "acme/tunerank" };
    await run("bash", ["-euo", "pipefail", "-c", step?.run ?? ""], { cwd: folder, env });
    const manifest = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));
    await remove();
    expect(manifest).toEqual({
      name: "tunerank",
      repository: { type: "git", url: "git+https://github.com/acme/tunerank.git" },
      homepage: "https://github.com/acme/tunerank#readme",
      bugs: { url: "https://github.com/acme/tunerank/issues" },
    });
  });

  test("the package's own scripts and CI install dependencies without running their scripts", () => {
    const { scripts } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
    const ci = readFileSync(path.join(root, ".ci/run"), "utf8");
    for (const text of [...Object.values(scripts as Record<string, string>), ci]) {
      for (const [install] of text.matchAll(/\bnpm ci\b[^&|\n]*/g)) {
        expect(install).toContain("--ignore-scripts");
      }
    }
  });
});

describe("the locks", () => {
  interface Locked {
    readonly dependencies?: Readonly<Record<string, string>>;
    readonly optionalDependencies?: Readonly<Record<string, string>>;
  }

  const read = (file: string): string => readFileSync(path.join(root, file), "utf8");

  const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
  const installed = Object.values(scripts).flatMap((script) =>
    [...script.matchAll(/--prefix (\S+)/g)].map(([, folder = ""]) => folder),
  );
  const checks = readdirSync(path.join(root, "checks"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `checks/${name}`);

  test("every check installs what it needs from a lock of its own", () => {
    expect(installed.filter((folder) => folder.startsWith("checks/")).sort()).toEqual(checks.sort());
  });

  describe.each([".", ...installed])("the lock of %s", (folder) => {
    const file = path.join(folder, "package-lock.json");

    // `npm ci` refuses a lock without the packages that its own packages ask for, the optional ones included.
    test("has every package that its packages ask for", () => {
      expect(existsSync(path.join(root, folder, "package.json"))).toBe(true);
      const { packages } = JSON.parse(read(file)) as { packages: Record<string, Locked> };
      const missing = Object.entries(packages).flatMap(([place, { dependencies, optionalDependencies }]) =>
        Object.keys({ ...dependencies, ...optionalDependencies })
          .filter((name) => !placesFor(place, name).some((each) => each in packages))
          .map((name) => `${name}, for ${place}`),
      );
      expect(missing).toEqual([]);
    });

    test("names no registry", () => {
      expect(read(file)).not.toContain('"resolved"');
    });

    test("is not ignored by git", () => {
      const ignored = read(".gitignore").split("\n");
      const parts = folder.split("/").slice(1);
      expect(parts.filter((part) => ignored.includes(part) || ignored.includes(`${part}/`))).toEqual([]);
    });
  });

  /** Where Node looks for a package that the package in a folder asks for. */
  function placesFor(folder: string, name: string): string[] {
    const parts = folder === "" ? [] : folder.split("/node_modules/");
    const outer = parts.map((_, index) => parts.slice(0, index + 1).join("/node_modules/"));
    return ["", ...outer].map((each) => `${each === "" ? "" : `${each}/`}node_modules/${name}`);
  }
});
