// Writes src/generated/ from openapi.yaml; with --check, only says whether it is stale.
import { readFile, writeFile } from "node:fs/promises";
import { generateContract } from "./contract.js";
import { generateDescriptions } from "./descriptions.js";
import { readDocument } from "./document.js";
import { generateTypes } from "./types.js";

const root = new URL("../../", import.meta.url);
const contract = new URL("openapi.yaml", root);

const files = await generate();
if (process.argv.includes("--check")) await check(files);
else await write(files);

async function generate(): Promise<Record<string, string>> {
  const document = await readDocument(contract.pathname);
  const { version } = JSON.parse(await readFile(new URL("package.json", root), "utf8")) as {
    version: string;
  };
  return {
    "contract.ts": withHeader(generateContract(document)),
    "descriptions.ts": withHeader(generateDescriptions(document)),
    "types.ts": withHeader(await generateTypes(document)),
    "version.ts": `// Generated from package.json by \`npm run generate\`: do not edit.\n\n/** This package's version. */\nexport const version: string = ${JSON.stringify(version)};\n`,
  };
}

async function check(files: Record<string, string>): Promise<void> {
  const stale: string[] = [];
  for (const [name, text] of Object.entries(files)) {
    if ((await current(name)) !== text) stale.push(`src/generated/${name}`);
  }
  if (stale.length === 0) return console.log("src/generated is up to date.");
  console.error(`Stale: ${stale.join(", ")}. Run \`npm run generate\` and commit the result.`);
  process.exitCode = 1;
}

async function write(files: Record<string, string>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await writeFile(new URL(`src/generated/${name}`, root), text);
    console.log(`src/generated/${name}`);
  }
}

async function current(name: string): Promise<string | undefined> {
  return await readFile(new URL(`src/generated/${name}`, root), "utf8").catch(() => undefined);
}

function withHeader(text: string): string {
  return `// Generated from openapi.yaml by \`npm run generate\`: do not edit.\n\n${text}`;
}
