// Packs the built package and installs the tarball in a new project, as its users get it.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));

/** @returns the project's folder, the tarball and the names of what it holds */
export function installPacked(...ownFiles) {
  const user = realpathSync(mkdtempSync(path.join(tmpdir(), "tunerank-user-")));
  const installed = path.join(user, "node_modules/tunerank");
  mkdirSync(installed, { recursive: true });
  const npm = ["pack", "--json", "--ignore-scripts", "--pack-destination", user];
  const [{ filename, files }] = JSON.parse(execFileSync("npm", npm, { cwd: root, encoding: "utf8" }));
  const tarball = path.join(user, filename);
  execFileSync("tar", ["-xzf", tarball, "-C", installed, "--strip-components=1"]);
  writeFileSync(path.join(user, "package.json"), '{ "type": "module" }\n');
  for (const file of ownFiles) cpSync(fileURLToPath(new URL(file, import.meta.url)), path.join(user, file));
  const remove = () => rmSync(user, { recursive: true, force: true });
  return { user, tarball, files: files.map(({ path }) => path).sort(), remove };
}
