import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { run } from "../check/command.js";
import { everyForm, type Linter } from "../check/linter.js";
import { versions } from "../check/versions.js";
import { packaged } from "../tools/typescript.js";

export const spectral: Linter = {
  name: "Spectral, spectral:oas",
  version: versions["@stoplight/spectral-cli"],
  needs: ["Node 22 or newer"],
  documents: everyForm,
  command: "npx @stoplight/spectral-cli lint openapi.json",
  async lint(folder, document) {
    await writeFile(join(folder, ".spectral.yaml"), 'extends: ["spectral:oas"]\n');
    const [node = "", program = ""] = packaged("spectral");
    await run(node, [program, "lint", "--fail-severity=hint", document], { cwd: folder });
  },
};
