// Why one would choose it: a figure for each reason, read from what was measured and tested.
import { readFile } from "node:fs/promises";
import { readResults } from "../../bench/results.js";
import { readData } from "./data.js";
import type { Page } from "./markdown.js";

const json = async (file: string) =>
  JSON.parse(await readFile(new URL(`../../${file}`, import.meta.url), "utf8"));

interface Row {
  readonly operations: {
    readonly uploadDatasetFile?: {
      readonly requests: number;
      readonly executed?: string;
      readonly notRetried?: string;
    };
  };
}

/** The list of the home page and of the README. */
export async function reasonsPart(): Promise<Page> {
  const { rows } = (await json("contract/conformance/retries.json")) as { rows: readonly Row[] };
  const unsafe = rows.filter(({ operations: { uploadDatasetFile: upload } }) => {
    return upload?.notRetried === "not-safe" && upload.requests === 1 && upload.executed !== "no";
  });
  // Without a mark: scripts/release.ts refuses to publish older ones.
  const { cpuPerCall, manyItems } = Object.values(readResults()).at(-1)?.scenarios ?? {};
  const { tunerank = 1, openai = 0 } = cpuPerCall?.medians ?? {};
  const { clients } = await readData<{ clients: readonly { tool: string; called: number }[] }>(
    "generators.json",
    "npm run check:generators",
  );
  const called = new Set(clients.filter((each) => each.called > 0).map(({ tool }) => tool)).size;
  const { dependencies = {} } = await json("package.json");
  const reasons: [figure: number | string, words: string][] = [
    [
      unsafe.length,
      "tested upload failures that the client does not retry, because the service may already have stored the file: [retries](/guide/retries.md).",
    ],
    [
      `${(openai / tunerank).toFixed(1)}×`,
      "less CPU for the same call than with the openai package: [compared with other SDKs](/guide/benchmarks.md).",
    ],
    [
      (manyItems?.medians["items ranked"] ?? 0).toLocaleString("en"),
      "items ranked in one call, in a heap of 96 MB: [many items](/guide/rerank.md#rank-many-items-in-batches).",
    ],
    [
      new Set(clients.map(({ tool }) => tool)).size,
      `code generators accept the OpenAPI document. We compiled and called the clients from ${called} of them: [languages](/guide/languages.md).`,
    ],
    [Object.keys(dependencies).length, "dependencies: [what is in the package](/guide/security.md)."],
  ];
  const lines = reasons.map(([figure, words]) => `- **${figure}** ${words}`);
  return { path: "parts/reasons.md", text: lines.join("\n") };
}
