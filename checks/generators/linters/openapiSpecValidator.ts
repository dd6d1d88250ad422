import { join } from "node:path";
import { run } from "../check/command.js";
import { everyForm, type Linter } from "../check/linter.js";
import { versions } from "../check/versions.js";
import { programs } from "../tools/python.js";

const venv = { name: "openapi-spec-validator", packages: ["openapi-spec-validator"] } as const;

export const openapiSpecValidator: Linter = {
  name: "openapi-spec-validator",
  version: versions["openapi-spec-validator"],
  needs: ["Python 3.11 or newer"],
  documents: everyForm,
  command: "openapi-spec-validator openapi.json",
  async lint(folder, document) {
    await run(join(await programs(venv), "openapi-spec-validator"), [document], { cwd: folder });
  },
};
