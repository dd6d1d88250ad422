import { join } from "node:path";
import type { Tool } from "../check/tool.js";
import { openapiGenerator } from "./openapiGenerator.js";
import { checkPython, runPython } from "./python.js";

const venv = {
  name: "openapi-generator",
  packages: ["urllib3", "python-dateutil", "pydantic", "mypy"],
} as const;

export const openapiGeneratorPython: Tool = {
  ...openapiGenerator("python"),
  language: "Python",
  needs: ["Java 11 or newer", "Maven", "Python 3.11 or newer"],
  compile: ({ folder }) => checkPython(venv, join(folder, "client"), join(folder, "call.py")),
  call: ({ folder }, env) => runPython(venv, join(folder, "client"), join(folder, "call.py"), env),
};
