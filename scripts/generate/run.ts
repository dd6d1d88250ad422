// Writes what follows from openapi.yaml and from the decision table, and keeps the contract's revision; with --check,
// only says what is stale.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { revisionFiles, withId, withRevision } from "../build/contract.js";
import { withEntries } from "../build/entries.js";
import {
  conformanceOperations,
  type MadeRow,
  type RetryRow,
  withOperations,
} from "./conformance/exchanges.js";
import {
  generateChecks,
  generateContract,
  generateDescriptions,
  generateExamples,
  generateRuleChecks,
  generateTools,
} from "./contract.js";
import { type Document, linesOf, readDocument } from "./document.js";
import { generateMethods } from "./methods.js";
import { type OperationShape, shapesOf } from "./operations.js";
import { generatePaths, generateTypes } from "./types.js";

const root = new URL("../../", import.meta.url);
const wrappers = new URL("src/wrappers", root).pathname;
const checking = process.argv.includes("--check");
const stale: string[] = [];
const document: Document = await readDocument(new URL("openapi.yaml", root).pathname);
const operations: readonly OperationShape[] = await readOperations();
const revision = document.info["x-contract-revision"];

await put(await generated());
// Read only now: the decisions read src/generated.
const conformance = await decided();
await put({ ...conformance, "README.md": await readme(), "contract/conformance/README.md": await needs() });
await put(await kept(conformance));
// They hold what is generated above.
const { guides } = await import("../../docs/build/pages.js");
await put(await guides(root.pathname));
if (stale.length > 0) {
  console.error(`Stale: ${stale.join(", ")}. Run \`npm run generate\` and commit the result.`);
  process.exitCode = 1;
} else if (checking) console.log("All that is generated is up to date.");

async function readOperations(): Promise<OperationShape[]> {
  const source = await current("openapi.yaml");
  return orEnd(() => shapesOf(document, source));
}

// What is not supported is told in a sentence, without this program's own lines.
function orEnd<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if ((error as Error).constructor !== Error) throw error;
    return end((error as Error).message);
  }
}

function end(message: string): never {
  console.error(message);
  process.exit(1);
}

async function generated(): Promise<Record<string, string>> {
  const manifest = JSON.parse(await current("package.json"));
  const { version } = manifest as { version: string };
  const server = (await current("server.json")).replaceAll(/"version": ".*?"/g, `"version": "${version}"`);
  const ruleChecks = generateRuleChecks(operations);
  const methods = Object.entries(await generateMethods(document, operations, wrappers));
  return {
    "package.json": `${JSON.stringify({ ...withEntries(manifest), "x-contract-revision": revision }, null, 2)}\n`,
    "server.json": server,
    "src/generated/contract.ts": withHeader(generateContract(document, operations)),
    "src/options/contractChecks.ts": withHeader(generateChecks(operations)),
    ...(ruleChecks && { "src/options/ruleChecks.ts": withHeader(ruleChecks) }),
    "src/generated/descriptions.ts": withHeader(generateDescriptions(document, operations)),
    "src/generated/examples.ts": withHeader(generateExamples(operations)),
    ...Object.fromEntries(methods.map(([name, text]) => [`src/wrappers/${name}`, withHeader(text)])),
    "src/generated/paths.ts": withHeader(await generatePaths(document)),
    "src/generated/tools.ts": withHeader(generateTools(document, operations)),
    "src/generated/types.ts": withHeader(await generateTypes(document)),
    "src/generated/version.ts": `// Generated from package.json by \`npm run generate\`: do not edit.\n\n/** This package's version. */\nexport const version: string = ${JSON.stringify(version)};\n`,
  };
}

async function decided(): Promise<Record<string, string>> {
  const { withExpectations } = await import("./conformance/expectations.js");
  const { parameters } = await import("./conformance/parameters.js");
  const data = JSON.parse(await current("contract/conformance/retries.json")) as { rows: RetryRow[] };
  const files = {
    retries: json({ ...data, rows: orEnd(() => data.rows.map(withExpectations)) }),
    errors: json(JSON.parse(await current("contract/conformance/errors.json"))),
    exchanges: await exchanges(),
    mutants: json(JSON.parse(await current("contract/conformance/mutants.json"))),
    operations: json({ $schema: "./operations.schema.json", ...conformanceOperations(document, operations) }),
    parameters: json({ $schema: "./parameters.schema.json", ...parameters() }),
  };
  const schemas = await Promise.all(Object.keys(files).map(schemaOf));
  const named = Object.entries(files).map(
    ([name, text]) => [`contract/conformance/${name}.json`, withRevision(text, revision)] as const,
  );
  return Object.assign(Object.fromEntries(named), ...schemas);
}

// The file keeps its layout as long as nothing is made for it.
async function exchanges(): Promise<string> {
  const data = JSON.parse(await current("contract/conformance/exchanges.json")) as { rows: MadeRow[] };
  return json({ ...data, rows: withOperations(data.rows, operations) });
}

function json(value: unknown): string {
  return `${jsonLines(value, "")}\n`;
}

// What fits a line stands on one, with one blank a level: the package ships these files.
function jsonLines(value: unknown, indent: string): string {
  const line = JSON.stringify(value);
  if (typeof value !== "object" || value === null || indent.length + line.length <= 300) return line;
  const inner = `${indent} `;
  const parts = Array.isArray(value)
    ? value.map((each) => jsonLines(each, inner))
    : Object.entries(value).map(([name, each]) => `${JSON.stringify(name)}:${jsonLines(each, inner)}`);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  return `${open}\n${inner}${parts.join(`,\n${inner}`)}\n${indent}${close}`;
}

async function schemaOf(name: string): Promise<Record<string, string>> {
  const file = `contract/conformance/${name}.schema.json`;
  return { [file]: withId(await current(file), name, revision) };
}

async function needs(): Promise<string> {
  const { withNeeds } = await import("./conformance/expectations.js");
  const text = await current("contract/conformance/README.md");
  return orEnd(() => withNeeds(text, operations));
}

async function readme(): Promise<string> {
  const { withExpectations } = await import("./conformance/expectations.js");
  const { withRetryTable } = await import("./retryTable.js");
  const data = JSON.parse(await current("contract/conformance/retries.json")) as { rows: RetryRow[] };
  const text = await current("README.md");
  return orEnd(() => withRetryTable(text, data.rows.map(withExpectations)));
}

// A revision is kept from its release on, and never written again: what was served under its name stays the same.
async function kept(data: Record<string, string>): Promise<Record<string, string>> {
  const released = await readDocument(new URL("contract/baseline/openapi.yaml", root).pathname);
  if (released.info["x-contract-revision"] !== revision) return {};
  const named = Object.entries(data).map(([file, text]) => [path.basename(file), text] as const);
  const source = await current("openapi.yaml");
  const files = revisionFiles(source, Object.fromEntries(named));
  const entries = Object.entries(files).map(
    ([name, text]) => [`contract/revisions/${revision}/${name}`, text] as const,
  );
  for (const [name, text] of entries) {
    const known = await current(name);
    if (known === "" || known === text) continue;
    const line = linesOf(source)(["info", "x-contract-revision"]);
    end(`openapi.yaml:${line}: ${revision} is released and ${name} would change: raise x-contract-revision.`);
  }
  return Object.fromEntries(entries);
}

async function put(files: Record<string, string>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    if ((await current(name)) === text) continue;
    if (checking) stale.push(name);
    else {
      const file = new URL(name, root);
      await mkdir(path.dirname(file.pathname), { recursive: true });
      await writeFile(file, text);
      console.log(name);
    }
  }
}

async function current(name: string): Promise<string> {
  return await readFile(new URL(name, root), "utf8").catch(() => "");
}

function withHeader(text: string): string {
  return `// Generated from openapi.yaml by \`npm run generate\`: do not edit.\n\n${text}`;
}
