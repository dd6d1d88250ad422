import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { run } from "../check/command.js";
import type { Linter } from "../check/linter.js";
import { versions } from "../check/versions.js";
import { packaged } from "../tools/typescript.js";

const version = versions["fern-api"];
// The calls of our own client: the file of Fern's definition that each stands in, and its name there.
const methods = [
  ["__package__.yml", "rerank"],
  ["deployments.yml", "scale"],
  ["datasets.yml", "upload"],
  ["reinforcementFineTuningJobs.yml", "resume"],
] as const;

export const fern: Linter = {
  name: "Fern, with its overlay",
  version,
  needs: ["Node 22 or newer"],
  documents: ["openapi-client.json", "openapi-client-3.0.json", "openapi.json", "openapi-3.0.json"],
  command: "npx fern-api check",
  async lint(folder, document, documents) {
    const workspace = join(folder, "fern");
    await mkdir(workspace);
    await cp(join(documents, "overlays/fern.yaml"), join(folder, "overlay.yaml"));
    await writeFile(join(workspace, "fern.config.json"), JSON.stringify({ organization: "acme", version }));
    const spec = { openapi: `../${document}`, overlays: "../overlay.yaml" };
    await writeFile(
      join(workspace, "generators.yml"),
      JSON.stringify({ api: { specs: [spec] }, groups: {} }),
    );
    const [node = "", program = ""] = packaged("fern");
    const options = { cwd: folder, env: { FERN_DISABLE_TELEMETRY: "true" } };
    await run(node, [program, "check", "--warnings"], options);
    await run(node, [program, "write-definition"], options);
    for (const [file, method] of methods) {
      const definition = await readFile(join(workspace, ".definition", file), "utf8");
      if (!new RegExp(`^    ${method}:$`, "m").test(definition)) throw new Error(`${file} has no ${method}.`);
    }
  },
};
