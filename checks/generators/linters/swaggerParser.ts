import { run } from "../check/command.js";
import { generators } from "../check/folders.js";
import { everyForm, type Linter } from "../check/linter.js";
import { newerNode } from "../check/toolchains.js";
import { versions } from "../check/versions.js";

const program = `import parser from "@apidevtools/swagger-parser"; await parser.validate(process.argv[1]);`;

export const swaggerParser: Linter = {
  name: "swagger-parser",
  version: versions["@apidevtools/swagger-parser"],
  needs: ["Node 22 or newer"],
  documents: everyForm,
  command: 'await SwaggerParser.validate("openapi.json");',
  async lint(folder, document) {
    const args = ["--input-type=module", "-e", program, `${folder}/${document}`];
    await run(newerNode, args, { cwd: generators });
  },
};
