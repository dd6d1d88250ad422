import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { root } from "../support/project.js";

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
