import { join } from "node:path";
import type { Tool } from "../check/tool.js";
import { versions } from "../check/versions.js";
import { checkPython, programs, runPython } from "./python.js";

// httpx and attrs, which a client needs, come with the generator.
const venv = { name: "openapi-python-client", packages: ["openapi-python-client", "mypy"] } as const;

export const openapiPythonClient: Tool = {
  name: "openapi-python-client",
  language: "Python",
  version: versions["openapi-python-client"],
  needs: ["Python 3.11 or newer"],
  documents: ["openapi-client.json", "openapi-client-3.0.json"],
  command: "openapi-python-client generate --path openapi-client.json --output-path client",
  get: `pip install openapi-python-client==${versions["openapi-python-client"]}`,
  recipe: { folder: "python", program: "rank.py", savedAs: "rank.py", bin: () => programs(venv) },
  note: "warns that it leaves error bodies as bytes; its forms always have the boundary +++",
  shortfall: {
    statuses: [499, 520, 522, 527, 528, 529, 530, 599],
    why: "raises a ValueError that names the status, which Python's HTTPStatus does not know; an event hook of httpx sees it",
  },
  program: async () => [join(await programs(venv), "openapi-python-client")],
  compile: ({ folder }) => checkPython(venv, join(folder, "client"), join(folder, "call.py")),
  call: ({ folder }, env) => runPython(venv, join(folder, "client"), join(folder, "call.py"), env),
};
