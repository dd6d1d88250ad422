import { existsSync } from "node:fs";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type LinterRow, type Result, today } from "./check/results.js";
import { cache, emptyFolder, generators, missing, newerNode, run, versions } from "./check/toolchains.js";
import { programs } from "./tools/python.js";
import { packaged } from "./tools/typescript.js";

/** A program that says what is wrong with a document. */
export interface Linter {
  readonly name: string;
  readonly version: string;
  /** What must be on the machine, by the names of toolchains.ts. */
  readonly needs: readonly string[];
  readonly documents: readonly string[];
  /** The command of its manual. */
  readonly command: string;
  /** Throws where it finds anything in the document, a warning included. */
  lint(folder: string, document: string, documents: string): Promise<void>;
}

/** Every published form of the contract. */
const everyForm: readonly string[] = [
  "openapi.yaml",
  "openapi.json",
  "openapi-3.0.json",
  "openapi-client.yaml",
  "openapi-client.json",
  "openapi-client-3.0.json",
];

/** Runs one linter on one document. */
export async function checkLinter(
  linter: Linter,
  document: string,
  documents: string,
): Promise<Result<LinterRow>> {
  const { name, version, command } = linter;
  const row = { tool: name, version, document, command, findings: "none", date: today() };
  const skippedFor = await missing(linter.needs);
  if (skippedFor.length > 0) return { row: { ...row, findings: "not run" }, skippedFor, problems: [] };
  const folder = await emptyFolder(`${name} ${document}`.replaceAll(/[^\w.]+/g, "-"));
  await cp(join(documents, document), join(folder, document));
  try {
    await linter.lint(folder, document, documents);
    return { row, skippedFor, problems: [] };
  } catch (error) {
    return { row: { ...row, findings: "some" }, skippedFor, problems: [String(error)] };
  }
}

const fernVersion = versions["fern-api"];
// The calls of our own client: the file of Fern's definition that each stands in, and its name there.
const methods = [
  ["__package__.yml", "rerank"],
  ["deployments.yml", "scale"],
  ["datasets.yml", "upload"],
  ["reinforcementFineTuningJobs.yml", "resume"],
] as const;

const fern: Linter = {
  name: "Fern, with its overlay",
  version: fernVersion,
  needs: ["Node 22 or newer"],
  documents: ["openapi-client.json", "openapi-client-3.0.json", "openapi.json", "openapi-3.0.json"],
  command: "npx fern-api check",
  async lint(folder, document, documents) {
    const workspace = join(folder, "fern");
    await mkdir(workspace);
    await cp(join(documents, "overlays/fern.yaml"), join(folder, "overlay.yaml"));
    await writeFile(
      join(workspace, "fern.config.json"),
      JSON.stringify({ organization: "acme", version: fernVersion }),
    );
    const spec = { openapi: `../${document}`, overlays: "../overlay.yaml" };
    await writeFile(
      join(workspace, "generators.yml"),
      JSON.stringify({ api: { specs: [spec] }, groups: {} }),
    );
    const [node = "", program = ""] = packaged("fern");
    const options = { cwd: folder, env: { FERN_DISABLE_TELEMETRY: "true" } };
    await run(node, [program, "check", "--warnings"], options);
    await run(node, [program, "write-definition"], options);
    for (const [file, method] of methods) {
      const definition = await readFile(join(workspace, ".definition", file), "utf8");
      if (!new RegExp(`^    ${method}:$`, "m").test(definition)) throw new Error(`${file} has no ${method}.`);
    }
  },
};

const kinVersion = versions["kin-openapi"];
const kinPrograms = join(cache, "go", `kin-openapi-${kinVersion}`);

const kinOpenapi: Linter = {
  name: "kin-openapi",
  version: kinVersion,
  needs: ["Go"],
  documents: everyForm,
  command: "validate openapi.json",
  async lint(folder, document) {
    if (!existsSync(join(kinPrograms, "validate"))) {
      const tool = `github.com/getkin/kin-openapi/cmd/validate@v${kinVersion}`;
      await run("go", ["install", tool], { env: { GOBIN: kinPrograms } });
    }
    await run(join(kinPrograms, "validate"), [document], { cwd: folder });
  },
};

const venv = { name: "openapi-spec-validator", packages: ["openapi-spec-validator"] } as const;

const openapiSpecValidator: Linter = {
  name: "openapi-spec-validator",
  version: versions["openapi-spec-validator"],
  needs: ["Python 3.11 or newer"],
  documents: everyForm,
  command: "openapi-spec-validator openapi.json",
  async lint(folder, document) {
    await run(join(await programs(venv), "openapi-spec-validator"), [document], { cwd: folder });
  },
};

const spectral: Linter = {
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

const program = `import parser from "@apidevtools/swagger-parser"; await parser.validate(process.argv[1]);`;

const swaggerParser: Linter = {
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

export const linters: readonly Linter[] = [spectral, openapiSpecValidator, swaggerParser, kinOpenapi, fern];
