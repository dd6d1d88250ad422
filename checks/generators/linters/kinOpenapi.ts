import { existsSync } from "node:fs";
import { join } from "node:path";
import { run } from "../check/command.js";
import { cache } from "../check/folders.js";
import { everyForm, type Linter } from "../check/linter.js";
import { versions } from "../check/versions.js";

const version = versions["kin-openapi"];
const programs = join(cache, "go", `kin-openapi-${version}`);

export const kinOpenapi: Linter = {
  name: "kin-openapi",
  version,
  needs: ["Go"],
  documents: everyForm,
  command: "validate openapi.json",
  async lint(folder, document) {
    if (!existsSync(join(programs, "validate"))) {
      const tool = `github.com/getkin/kin-openapi/cmd/validate@v${version}`;
      await run("go", ["install", tool], { env: { GOBIN: programs } });
    }
    await run(join(programs, "validate"), [document], { cwd: folder });
  },
};
