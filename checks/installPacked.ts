import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
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

/** Packs the built package and installs the tarball in a new project, to which it copies these files. */
export function installPacked(copied: readonly URL[] = []): PackedPackage {
  const user = realpathSync(mkdtempSync(path.join(tmpdir(), "tunerank-user-")));
  const installed = path.join(user, "node_modules/tunerank");
  mkdirSync(installed, { recursive: true });
  const { filename, files } = pack(user);
  const tarball = path.join(user, filename);
  execFileSync("tar", ["-xzf", tarball, "-C", installed, "--strip-components=1"]);
  writeFileSync(path.join(user, "package.json"), '{ "type": "module" }\n');
  for (const file of copied) cpSync(fileURLToPath(file), path.join(user, path.basename(file.pathname)));
  const remove = (): void => rmSync(user, { recursive: true, force: true });
  return { user, tarball, files: files.map((file) => file.path).sort(), remove };
}

function pack(destination: string): { filename: string; files: readonly { path: string }[] } {
  const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", destination];
  const [packed] = JSON.parse(execFileSync("npm", args, { cwd: root, encoding: "utf8" }));
  return packed;
}
