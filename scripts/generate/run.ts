// Writes what follows from openapi.yaml and from the decision table; with --check, only says what is stale.
import { readFile, writeFile } from "node:fs/promises";
import type { RetryRow } from "./conformance.js";
import { generateContract } from "./contract.js";
import { generateDescriptions } from "./descriptions.js";
import { readDocument } from "./document.js";
import { generateTypes } from "./types.js";

const root = new URL("../../", import.meta.url);
const checking = process.argv.includes("--check");
const stale: string[] = [];

await put(await generated());
// Read only now: the decisions read src/generated.
await put(await decided());
if (stale.length > 0) {
  console.error(`Stale: ${stale.join(", ")}. Run \`npm run generate\` and commit the result.`);
  process.exitCode = 1;
} else if (checking) console.log("All that is generated is up to date.");

async function generated(): Promise<Record<string, string>> {
  const document = await readDocument(new URL("openapi.yaml", root).pathname);
  const { version } = JSON.parse(await current("package.json")) as { version: string };
  return {
    "src/generated/contract.ts": withHeader(generateContract(document)),
    "src/generated/descriptions.ts": withHeader(generateDescriptions(document)),
    "src/generated/types.ts": withHeader(await generateTypes(document)),
    "src/generated/version.ts": `// Generated from package.json by \`npm run generate\`: do not edit.\n\n/** This package's version. */\nexport const version: string = ${JSON.stringify(version)};\n`,
  };
}

async function decided(): Promise<Record<string, string>> {
  const { withExpectations } = await import("./conformance.js");
  const { withRetryTable } = await import("./retryTable.js");
  const data = JSON.parse(await current("contract/conformance/retries.json")) as { rows: RetryRow[] };
  const rows = data.rows.map(withExpectations);
  return {
    "contract/conformance/retries.json": `${JSON.stringify({ ...data, rows }, null, 2)}\n`,
    "README.md": withRetryTable(await current("README.md"), rows),
  };
}

async function put(files: Record<string, string>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    if ((await current(name)) === text) continue;
    if (checking) stale.push(name);
    else {
      await writeFile(new URL(name, root), text);
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
