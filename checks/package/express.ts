// The Express service of the docs, in CommonJS, which ranks for its callers.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { checkService } from "./service.js";
import { tool } from "./tool.js";

const recipe = new URL("../../docs/snippets/recipes/express.cjs", import.meta.url);

/** Starts it, and asks it. */
export async function checkExpress(user: string): Promise<string> {
  const file = path.join(user, "express.cjs");
  const express = JSON.stringify(tool("express"));
  writeFileSync(file, readFileSync(recipe, "utf8").replace('"express"', express));
  return await checkService([file], user, "/search");
}
