/** One way into the package: `tunerank`, or `tunerank/testing` and its siblings. */
export interface Entry {
  /** Its key in package.json's exports. */
  readonly name: "." | `./${string}`;
  /** Its module in src; in dist its files stand at the same place. */
  readonly source: `${string}.ts`;
  /** Whether it imports "#platform": then it is built for Node, for Bun and Deno, and for the web. */
  readonly platforms?: true;
}

/** Every entry. The build, package.json and the checks of the package are made of this list. */
export const entries: readonly Entry[] = [
  { name: ".", source: "index.ts", platforms: true },
  { name: "./bulk", source: "bulk/index.ts" },
  { name: "./testing", source: "testing/index.ts" },
  { name: "./ai-sdk", source: "adapters/aiSdk.ts" },
  { name: "./langchain", source: "adapters/langchain.ts" },
  { name: "./openapi-fetch", source: "adapters/openapiFetch.ts" },
  { name: "./opentelemetry", source: "adapters/opentelemetry.ts" },
  { name: "./queues", source: "adapters/queues.ts" },
  { name: "./temporal", source: "adapters/temporal.ts" },
  { name: "./temporal/workflows", source: "adapters/temporalWorkflows.ts" },
];

/** The one file for browsers and CDNs: `tunerank/browser`, with the types of `tunerank`. */
export const browserFile = "browser.js";

/** Where an entry's file stands below dist, without its ending. */
export function stemOf({ source }: Entry): string {
  return source.replace(/\.ts$/, "");
}

type Target = string | { readonly [condition: string]: Target };

// Bun and Deno match "node" too, so that comes after them.
const serverConditions = ["bun", "deno"];
const webConditions = ["workerd", "edge-light", "browser"];

/** The exports that are modules: for each entry both forms, each with its types first. */
export function moduleExports(): Record<string, Target> {
  const ofEntries = entries.map((entry) => [
    entry.name,
    { import: targets(entry, "./dist"), require: targets(entry, "./dist/cjs") },
  ]);
  const browser = { types: "./dist/index.d.ts", default: `./dist/${browserFile}` };
  return Object.fromEntries([...ofEntries, ["./browser", browser]]);
}

function targets(entry: Entry, folder: string): Target {
  const stem = `${folder}/${stemOf(entry)}`;
  const types = `${stem}.d.ts`;
  if (!entry.platforms) return { types, default: `${stem}.js` };
  const web = `${stem}.web.js`;
  const under = (conditions: readonly string[], file: string) =>
    Object.fromEntries(conditions.map((condition) => [condition, file]));
  const elsewhere = { ...under(serverConditions, `${stem}.server.js`), ...under(webConditions, web) };
  return { types, ...elsewhere, node: `${stem}.js`, default: web };
}

/** package.json with what follows from the list of entries; its exports that are documents stay. */
export function withEntries(manifest: Record<string, unknown>): Record<string, unknown> {
  const documents = Object.entries(manifest.exports as Record<string, Target>).filter(
    ([, target]) => typeof target === "string",
  );
  const subpaths = entries.filter(({ name }) => name !== ".");
  const types = subpaths.map((entry) => [entry.name.slice(2), [`dist/cjs/${stemOf(entry)}.d.ts`]]);
  return {
    ...manifest,
    main: "./dist/cjs/index.js",
    types: "./dist/cjs/index.d.ts",
    // TypeScript's node10 resolution reads no exports.
    typesVersions: { "*": Object.fromEntries(types) },
    exports: { ...moduleExports(), ...Object.fromEntries(documents) },
  };
}
