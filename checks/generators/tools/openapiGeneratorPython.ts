import { join } from "node:path";
import { callers } from "../check/folders.js";
import type { Tool } from "../check/tool.js";
import { versions } from "../check/versions.js";
import { openapiGenerator } from "./openapiGenerator.js";
import { checkPython, runPython } from "./python.js";

const venv = {
  name: "openapi-generator",
  packages: ["urllib3", "python-dateutil", "pydantic", "mypy"],
} as const;
const caller = join(callers("openapi-generator-python"), "call.py");

export const openapiGeneratorPython: Tool = {
  name: "openapi-generator python",
  language: "Python",
  version: versions["openapi-generator"],
  needs: ["Java 11 or newer", "Maven", "Python 3.11 or newer"],
  documents: ["openapi.json", "openapi-3.0.json"],
  note: "refuses an answer with a newer enum value; enumUnknownDefaultCase=true makes code that does not compile",
  generate: (workplace) => openapiGenerator("python", workplace),
  compile: ({ folder }) => checkPython(venv, folder, caller),
  call: ({ folder }, env) => runPython(venv, folder, caller, env),
};
