// Writes dist/, all that is made for the package.
import { rm } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { commandLineBuild } from "./commandLine.js";
import { writeContract } from "./contract.js";
import { writeDeclarations } from "./declarations.js";
import { writeGuides } from "./guides.js";
import { writeLibrary } from "./library.js";
import { writeRevision } from "./revision.js";

const root = fileURLToPath(new URL("../../", import.meta.url));
const dist = path.join(root, "dist");

await rm(dist, { recursive: true, force: true });
await writeContract(path.join(root, "openapi.yaml"), dist);
await writeRevision(root, path.join(dist, "revisions"));
await writeLibrary(root, dist);
await build({ ...commandLineBuild, absWorkingDir: root, outdir: "dist/cli" });
await writeDeclarations(root, dist);
await writeGuides(root, dist);
