// A page's code and a server's, bundled by each bundler and run: each makes one call to a service on a port.
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { runNode } from "./tool.js";

/** What drivers.js does with an entry, into an empty folder: "bundle." and the ending of its format is what it writes there. */
type Bundler = (bundle: {
  readonly entry: string;
  readonly forNode: boolean;
  readonly folder: string;
}) => Promise<unknown>;

const call = `createClient({ baseUrl: globalThis.address ?? process.env.ADDRESS, apiKey: "key", dangerouslyAllowBrowser: true })
  .rerank({ query: "q", documents: ["d"] }, { maxRetries: 0 })
  .then(({ data }) => console.log(data[0].index), (error) => console.log(isStatusError(error), error.stack));\n`;
const names = "{ createClient, isStatusError }";
const entries: Readonly<Record<string, string>> = {
  "page.mjs": `import ${names} from "tunerank";\n${call}`,
  "server.mjs": `import ${names} from "tunerank";\n${call}`,
  "server.cjs": `const ${names} = require("tunerank");\n${call}`,
};
// These two read ES modules alone, unless a plugin is added.
const takesNoCommonJs = new Set(["rollup", "vite"]);

/** Bundles each entry with each bundler, and runs what came out. */
export async function checkBundlers(user: string): Promise<string> {
  // Only this folder installs the bundlers.
  const { bundlers }: { bundlers: Readonly<Record<string, Bundler>> } = await import(
    new URL("drivers.js", import.meta.url).href
  );
  const service = await startService();
  try {
    for (const [file, text] of Object.entries(entries)) writeFileSync(path.join(user, file), text);
    for (const [name, bundler] of Object.entries(bundlers)) {
      for (const file of Object.keys(entries)) {
        if (file.endsWith(".cjs") && takesNoCommonJs.has(name)) continue;
        await checkBundle(user, file, bundler, service.url).catch((error: Error) => {
          throw new Error(`${name}, ${file}: ${error.message}`);
        });
      }
    }
  } finally {
    service.close();
  }
  return `${Object.keys(bundlers).join(", ")}: a page and a server`;
}

async function checkBundle(user: string, file: string, bundler: Bundler, address: string): Promise<void> {
  const folder = path.join(user, "bundled");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  const forNode = !file.startsWith("page");
  await bundler({ entry: path.join(user, file), forNode, folder });
  const [written = "nothing was written"] = readdirSync(folder).filter((name) => name.startsWith("bundle."));
  const bundle = path.join(folder, written);
  if (!forNode) asOnAPage(bundle, address);
  const printed = await runNode([bundle], user, { ADDRESS: address });
  if (printed !== "0\n") throw new Error(printed);
}

// A page has no process and nothing of Node's. webpack asks its script where its other files are.
const page =
  'globalThis.self = globalThis; delete globalThis.process; globalThis.document = { currentScript: { tagName: "SCRIPT", src: "http://127.0.0.1/bundle.js" } };';

function asOnAPage(bundle: string, address: string): void {
  const code = readFileSync(bundle, "utf8");
  const ofNode = /["'`]node:[a-z]+["'`]|getBuiltinModule/.exec(code);
  if (ofNode !== null) throw new Error(`The page's bundle holds ${ofNode[0]}.`);
  writeFileSync(bundle, `globalThis.address = ${JSON.stringify(address)}; ${page}\n${code}`);
}

/** A service on a port that responds to every rerank, to pages of any origin too. */
async function startService(): Promise<{ readonly url: string; close(): void }> {
  const ranking = JSON.stringify({ object: "list", data: [{ index: 0, relevance_score: 0.5 }] });
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      const cors = { "access-control-allow-origin": "*", "access-control-allow-headers": "*" };
      response.writeHead(200, { "content-type": "application/json", ...cors }).end(ranking);
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
