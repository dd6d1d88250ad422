// A CycloneDX bill of materials: what npm installs with the package, and what is built into it.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { commandLineBuild, mcpBuild } from "../../scripts/build/commandLine.js";

const root = fileURLToPath(new URL("../../", import.meta.url));

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
export async function writeBillOfMaterials(user: string, files: readonly string[]): Promise<string> {
  const sbom: BillOfMaterials = JSON.parse(
    execFileSync("npm", ["sbom", "--sbom-format", "cyclonedx", "--package-lock-only"], {
      cwd: root,
      encoding: "utf8",
    }),
  );
  const builtIn = await inlined(user, files);
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

// The source maps name every module that was built in; the command's files have none, so they are built once more.
async function inlined(user: string, files: readonly string[]): Promise<ReadonlySet<string>> {
  const maps = files.filter((name) => name.endsWith(".js.map"));
  const built = [commandLineBuild, mcpBuild].map((part) =>
    build({ ...part, absWorkingDir: root, outdir: "dist/cli", metafile: true, write: false }),
  );
  const inputs = (await Promise.all(built)).flatMap(({ metafile = { inputs: {} } }) =>
    Object.keys(metafile.inputs),
  );
  const sources = maps.flatMap(
    (file) => JSON.parse(readFileSync(path.join(user, "node_modules/tunerank", file), "utf8")).sources,
  );
  const found = [...sources, ...inputs].map((source) => /node_modules\/((@[^/]+\/)?[^/]+)/.exec(source)?.[1]);
  return new Set(found.filter((name) => name !== undefined));
}

function versionOf(name: string): unknown {
  return JSON.parse(readFileSync(path.join(root, "node_modules", name, "package.json"), "utf8")).version;
}
