import { mkdir, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { copyProject, root, run, temporaryFolder } from "./project.js";

/** The package as users get it. */
export interface PackedPackage {
  /** A user's project that has the package installed. */
  readonly user: string;
  /** The package's own folder within it. */
  readonly installed: string;
  /** What the tarball holds. */
  readonly files: readonly string[];
  remove(): Promise<void>;
}

/** Builds and packs a copy of this project, and installs the tarball in a new one. */
export async function installPackedPackage(): Promise<PackedPackage> {
  const { folder, remove } = await temporaryFolder();
  const project = path.join(folder, "project");
  const user = path.join(folder, "user");
  const installed = path.join(user, "node_modules", "tunerank");
  await copyProject(project);
  await mkdir(installed, { recursive: true });
  const npm = ["pack", "--json", "--pack-destination", folder];
  const { exitCode, stdout, stderr } = await run("npm", npm, { cwd: project });
  if (exitCode !== 0) {
    await remove();
    throw new Error(`npm pack failed:\n${stdout}\n${stderr}`);
  }
  // What the build prints stands before npm's own response.
  const [response] = JSON.parse(stdout.slice(stdout.search(/^\[/m))) as [
    { filename: string; files: { path: string }[] },
  ];
  await run("tar", ["-xzf", path.join(folder, response.filename), "-C", installed, "--strip-components=1"]);
  for (const dependency of ["openapi-fetch", "openapi-typescript-helpers"]) {
    const from = path.join(root, "node_modules", dependency);
    await symlink(from, path.join(user, "node_modules", dependency), "junction");
  }
  await writeFile(path.join(user, "package.json"), '{"type":"module"}');
  return { user, installed, files: response.files.map((file) => file.path).sort(), remove };
}
