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
