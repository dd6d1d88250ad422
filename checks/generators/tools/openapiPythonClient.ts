import { join } from "node:path";
import { run } from "../check/command.js";
import { callers } from "../check/folders.js";
import type { Tool } from "../check/tool.js";
import { versions } from "../check/versions.js";
import { checkPython, programs, runPython } from "./python.js";

// httpx and attrs, which a client needs, come with the generator.
const venv = { name: "openapi-python-client", packages: ["openapi-python-client", "mypy"] } as const;
const caller = join(callers("openapi-python-client"), "call.py");

export const openapiPythonClient: Tool = {
  name: "openapi-python-client",
  language: "Python",
  version: versions["openapi-python-client"],
  needs: ["Python 3.11 or newer"],
  documents: ["openapi.json", "openapi-3.0.json"],
  note: "refuses an answer with a newer enum value; its forms always have the boundary +++",
  async generate({ document, folder }) {
    const bin = await programs(venv);
    const args = ["generate", "--path", document, "--meta", "none", "--output-path", join(folder, "service")];
    // It formats what it writes with ruff, which stands beside it.
    await run(join(bin, "openapi-python-client"), args, {
      cwd: folder,
      env: { PATH: `${bin}:${process.env.PATH}` },
    });
  },
  compile: ({ folder }) => checkPython(venv, folder, caller),
  call: ({ folder }, env) => runPython(venv, folder, caller, env),
};
