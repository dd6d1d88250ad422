import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { operations, type Tool } from "../check/tool.js";
import { cache, run, versions } from "../check/toolchains.js";

/** A Python environment, kept between runs. */
export interface Venv {
  readonly name: string;
  readonly packages: readonly (keyof typeof versions)[];
}

/** The folder of an environment's programs; makes the environment when it is not there. */
export async function programs({ name, packages }: Venv): Promise<string> {
  const requirements = packages.map((each) => `${each}==${versions[each]}`);
  const folder = join(cache, "venv", [name, ...requirements].join("+"));
  const bin = join(folder, "bin");
  const complete = join(folder, "complete");
  if (!existsSync(complete)) {
    await run("python3", ["-m", "venv", "--clear", folder]);
    await run(join(bin, "pip"), ["install", "--quiet", ...requirements]);
    await writeFile(complete, "");
  }
  return bin;
}

/** Compiles every module of a client, and checks the types of the caller against it. */
export async function checkPython(venv: Venv, folder: string, caller: string): Promise<void> {
  const python = join(await programs(venv), "python");
  await run(python, ["-m", "compileall", "-q", folder]);
  const types = ["--strict", "--follow-imports=silent", "--ignore-missing-imports"];
  await run(python, ["-m", "mypy", ...types, caller], { cwd: folder, env: { MYPYPATH: folder } });
}

/** Runs a caller with the client in the folder. */
export async function runPython(
  venv: Venv,
  folder: string,
  caller: string,
  env: Readonly<Record<string, string>>,
): Promise<string> {
  return run(join(await programs(venv), "python"), [caller], { env: { ...env, PYTHONPATH: folder } });
}

const datamodelVenv = {
  name: "datamodel",
  packages: ["datamodel-code-generator", "pydantic", "mypy"],
} as const;

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
  program: async () => [join(await programs(datamodelVenv), "datamodel-codegen")],
  compile: ({ folder }) => checkPython(datamodelVenv, join(folder, "client"), join(folder, "call.py")),
  call: ({ folder }, env) => runPython(datamodelVenv, join(folder, "client"), join(folder, "call.py"), env),
};

// httpx and attrs, which a client needs, come with the generator.
export const clientVenv = {
  name: "openapi-python-client",
  packages: ["openapi-python-client", "mypy"],
} as const;

export const openapiPythonClient: Tool = {
  name: "openapi-python-client",
  language: "Python",
  version: versions["openapi-python-client"],
  needs: ["Python 3.11 or newer"],
  documents: ["openapi-client.json", "openapi-client-3.0.json"],
  command: "openapi-python-client generate --path openapi-client.json --output-path client",
  get: `pip install openapi-python-client==${versions["openapi-python-client"]}`,
  note: "warns that it leaves error bodies as bytes; its forms always have the boundary +++",
  shortfall: {
    statuses: [499, 520, 522, 527, 528, 529, 530, 599],
    why: "raises a ValueError that names the status, which Python's HTTPStatus does not know; an event hook of httpx sees it",
  },
  program: async () => [join(await programs(clientVenv), "openapi-python-client")],
  compile: ({ folder }) => checkPython(clientVenv, join(folder, "client"), join(folder, "call.py")),
  call: ({ folder }, env) => runPython(clientVenv, join(folder, "client"), join(folder, "call.py"), env),
};
