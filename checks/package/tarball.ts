// What the tarball holds: its files against the list that is committed (--update writes it anew), its weight, a bill of materials.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const list = new URL("files.txt", import.meta.url);

/** Compares what the tarball holds with the list. */
export function checkFiles(files: readonly string[], update: boolean): string {
  // Names of chunks hold a hash of their content.
  const named = files.map((file) => file.replace(/-[A-Z0-9]{8}\.js/, "-HASH.js"));
  const found = [...new Set(named)].sort();
  if (update) writeFileSync(list, `${found.join("\n")}\n`);
  const wanted = readFileSync(list, "utf8").trimEnd().split("\n");
  const more = found.filter((file) => !wanted.includes(file));
  const fewer = wanted.filter((file) => !found.includes(file));
  if (more.length > 0 || fewer.length > 0) {
    throw new Error(
      `More: ${more.join(", ") || "none"}. Fewer: ${fewer.join(", ") || "none"}. Wanted? Run it with --update.`,
    );
  }
  return `${files.length} files`;
}

// bench/NOTES.md says what each part weighs.
const mostPacked = 1_100_000;
const mostUnpacked = 4_400_000;

/** Weighs the tarball, and what it holds. @param folder Where that is. */
export function checkWeight(tarball: string, folder: string, files: readonly string[]): string {
  const packed = statSync(tarball).size;
  const unpacked = files.reduce((sum, file) => sum + statSync(path.join(folder, file)).size, 0);
  const found = `${packed} bytes packed, ${unpacked} unpacked`;
  if (packed <= mostPacked && unpacked <= mostUnpacked) return found;
  throw new Error(`${found}: at most ${mostPacked} and ${mostUnpacked}.`);
}

// A CycloneDX bill of materials: what npm installs with the package, and what is built into it.

const root = fileURLToPath(new URL("../..", import.meta.url));

interface Component {
  readonly "bom-ref": string;
  name: string;
  readonly version: string;
  scope?: string;
  properties?: unknown;
  externalReferences?: unknown;
}

interface BillOfMaterials {
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

/** Writes reports/sbom.cdx.json. */
export function writeBillOfMaterials(): string {
  const sbom: BillOfMaterials = JSON.parse(
    execFileSync("npm", ["sbom", "--sbom-format", "cyclonedx", "--package-lock-only"], {
      cwd: root,
      encoding: "utf8",
    }),
  );
  const license = readFileSync(path.join(root, "LICENSE"), "utf8");
  // The build has written a line for each: its name, its version, and who has the copyright.
  const builtIn = new Set([...license.matchAll(/^(\S+) [\d.]+: /gm)].map(([, name]) => name as string));
  // Other packages may have another version of one: what is built in is what stands at the top.
  const components = sbom.components.filter(
    ({ name, version }) => builtIn.has(name) && version === versionOf(name),
  );
  if (components.length !== builtIn.size)
    throw new Error(`Not every one of ${[...builtIn]} is known to npm.`);
  const kept = new Set([
    sbom.metadata.component["bom-ref"],
    ...components.map((component) => component["bom-ref"]),
  ]);
  const dependencies = sbom.dependencies
    .filter(({ ref }) => kept.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((name) => kept.has(name)) }));
  // npm counts them as tools of development, and says where it would fetch them: here they are part of the code.
  for (const component of components) {
    delete component.properties;
    delete component.externalReferences;
    component.scope = "required";
  }
  // npm takes the folder's name here.
  sbom.metadata.component.name = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")).name;
  mkdirSync(path.join(root, "reports"), { recursive: true });
  const file = path.join(root, "reports/sbom.cdx.json");
  writeFileSync(file, `${JSON.stringify({ ...sbom, components, dependencies }, undefined, 2)}\n`);
  return `built into dist: ${components.map(({ name, version }) => `${name} ${version}`).join(", ") || "nothing"}`;
}

function versionOf(name: string): unknown {
  return JSON.parse(readFileSync(path.join(root, "node_modules", name, "package.json"), "utf8")).version;
}
