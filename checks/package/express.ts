// An Express service in CommonJS that ranks for its callers.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { checkService } from "./service.js";
import { tool } from "./tool.js";

const service = `
const express = require(${JSON.stringify(tool("express"))});
const { createClient } = require("tunerank");
const client = createClient();
const app = express().use(express.json());
app.post("/search", async (request, response) => response.json(await client.rerank(request.body)));
const server = app.listen(0, "127.0.0.1", () => console.log(server.address().port));
`;

/** Starts it, and asks it. */
export async function checkExpress(user: string): Promise<string> {
  const file = path.join(user, "express.cjs");
  writeFileSync(file, service);
  return await checkService([file], user, "/search");
}
