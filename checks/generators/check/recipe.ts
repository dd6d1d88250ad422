import { cp, mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createTestService } from "../../../src/testing/index.js";
import { run } from "./command.js";
import { root } from "./folders.js";
import type { Tool, Workplace } from "./tool.js";

/** Runs the program of the tool's recipe against the stand-in, as its page says; returns what is wrong. */
export async function checkRecipe({ recipe }: Tool, { folder }: Workplace): Promise<string[]> {
  if (recipe === undefined) return [];
  const source = join(root, "docs/snippets/recipes", recipe.folder);
  const saved = join(folder, recipe.savedAs);
  await mkdir(dirname(saved), { recursive: true });
  await cp(join(source, recipe.program), saved);
  const [last = ""] = (await readFile(join(source, "commands.sh"), "utf8")).trim().split("\n").reverse();
  const standIn = await createTestService({ apiKey: "key-of-acme" }).listen();
  try {
    const env = {
      TUNERANK_BASE_URL: standIn.url,
      TUNERANK_API_KEY: "key-of-acme",
      PATH: `${await recipe.bin()}:${process.env.PATH}`,
    };
    const printed = await run("sh", ["-c", last], { cwd: folder, env });
    const expected = await readFile(join(source, "rank.out.txt"), "utf8");
    return printed === expected ? [] : [`recipe: it printed ${printed}`];
  } finally {
    await standIn.close();
  }
}
