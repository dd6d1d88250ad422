import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { blockOf } from "../../../docs/build/blocks.js";
import { createTestService } from "../../../src/testing/index.js";
import { run } from "./command.js";
import type { Tool, Workplace } from "./tool.js";

/** Runs the program of the tool's recipe against the stand-in, as its page says; returns what is wrong. */
export async function checkRecipe({ recipe }: Tool, { folder }: Workplace): Promise<string[]> {
  if (recipe === undefined) return [];
  const saved = join(folder, recipe.savedAs);
  await mkdir(dirname(saved), { recursive: true });
  await writeFile(saved, blockOf(recipe.page, recipe.program).text);
  const { text, prints } = blockOf(recipe.page, "commands.sh");
  const [last = ""] = text.trim().split("\n").reverse();
  const standIn = await createTestService({ apiKey: "key-of-acme" }).listen();
  try {
    const env = {
      TUNERANK_BASE_URL: standIn.url,
      TUNERANK_API_KEY: "key-of-acme",
      PATH: `${await recipe.bin()}:${process.env.PATH}`,
    };
    const printed = await run("sh", ["-c", last], { cwd: folder, env });
    return printed === prints?.text ? [] : [`recipe: it printed ${printed}`];
  } finally {
    await standIn.close();
  }
}
