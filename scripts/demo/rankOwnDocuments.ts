import { readFile } from "node:fs/promises";
import { createClient } from "../../src/index.js";
import { createTestService } from "../../src/testing/index.js";
import { scoreBars } from "./scoreBars.js";

/** Ranks the lines of a file with the stand-in of `tunerank/testing`: the mock answers only with examples. */
export async function rankOwnDocuments(given: {
  query?: string | undefined;
  documents?: string | undefined;
}): Promise<void> {
  const { query, documents } = given;
  if (query === undefined || documents === undefined) {
    console.error("--query TEXT and --documents FILE go together.");
    process.exitCode = 2;
    return;
  }
  const text = await readFile(documents, "utf8").catch((error: Error) => {
    console.error(`--documents cannot be read: ${error.message}`);
    process.exitCode = 2;
  });
  if (text === undefined) return;
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "");
  console.log(
    "Starting the stand-in of tunerank/testing. It ranks by shared words, as no real model does.\n",
  );
  const server = await createTestService().listen();
  try {
    const client = createClient({ baseUrl: server.url, apiKey: "demo-key" });
    console.log(`client.rerank.items(${JSON.stringify(query)}, ... ${lines.length} lines)`);
    const ranked = await client.rerank.items(query, lines, { text: (line) => line });
    const bars = scoreBars(ranked.map(({ score }) => score));
    for (const [index, { item }] of ranked.entries()) console.log(`  ${bars[index]}  ${item}`);
  } finally {
    await server.close();
  }
}
