import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));

/** A new project that has the package installed as its users get it. */
export interface PackedPackage {
  /** The project's folder. */
  readonly user: string;
  readonly tarball: string;
  /** The names of what the tarball holds. */
  readonly files: readonly string[];
  remove(): void;
}

/** Packs the built package and installs the tarball, or one that is given, in a new project with these files. */
export function installPacked(copied: readonly URL[] = [], given?: string): PackedPackage {
  const user = realpathSync(mkdtempSync(path.join(tmpdir(), "tunerank-user-")));
  const installed = path.join(user, "node_modules/tunerank");
  mkdirSync(installed, { recursive: true });
  const tarball = given ?? pack(user);
  execFileSync("tar", ["-xzf", tarball, "-C", installed, "--strip-components=1"]);
  writeFileSync(path.join(user, "package.json"), '{ "type": "module" }\n');
  for (const file of copied) cpSync(fileURLToPath(file), path.join(user, path.basename(file.pathname)));
  const remove = (): void => rmSync(user, { recursive: true, force: true });
  return { user, tarball, files: filesIn(installed), remove };
}

function pack(destination: string): string {
  const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", destination];
  const [{ filename }] = JSON.parse(execFileSync("npm", args, { cwd: root, encoding: "utf8" }));
  return path.join(destination, filename);
}

function filesIn(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map((file) => path.relative(folder, path.join(file.parentPath, file.name))).sort();
}
