import { join } from "node:path";
import { operations, type Tool } from "../check/tool.js";
import { versions } from "../check/versions.js";
import { checkPython, programs, runPython } from "./python.js";

const venv = { name: "datamodel", packages: ["datamodel-code-generator", "pydantic", "mypy"] } as const;

export const datamodelCodeGenerator: Tool = {
  name: "datamodel-code-generator",
  language: "Python",
  version: versions["datamodel-code-generator"],
  needs: ["Python 3.11 or newer"],
  documents: ["openapi-client.json", "openapi-client-3.0.json"],
  command:
    "datamodel-codegen --input openapi-client.json --input-file-type openapi --output-model-type pydantic_v2.BaseModel --output client/model.py",
  get: `pip install datamodel-code-generator==${versions["datamodel-code-generator"]}`,
  unsupported: operations,
  note: "makes models only",
  program: async () => [join(await programs(venv), "datamodel-codegen")],
  compile: ({ folder }) => checkPython(venv, join(folder, "client"), join(folder, "call.py")),
  call: ({ folder }, env) => runPython(venv, join(folder, "client"), join(folder, "call.py"), env),
};
