import { operations } from "../generated/contract.js";
import { type Context, UsageError } from "./context.js";
import { operationIds, requestRules } from "./operations.js";
import { operationOfCommand } from "./options.js";
import { withClient } from "./withClient.js";

export async function run(context: Context): Promise<void> {
  const { options, terminal, signal } = context;
  const { tools = "rerank", root } = options;
  // By the name of the first command for each operation, if there is one: rerank, not bulk.
  const named = Object.entries(operationOfCommand);
  const all = new Map(operationIds.map((id) => [named.find((each) => each[1] === id)?.[0] ?? id, id]));
  const wanted = tools.split(",");
  if (tools !== "all" && !wanted.every((name) => all.has(name)))
    throw new UsageError(`--tools must be all, or some of ${[...all.keys()].join(",")}.`);
  const isFile = (name: string) => requestRules[all.get(name) ?? "rerankDocuments"].file !== undefined;
  if (root === undefined && tools !== "all" && wanted.some(isFile))
    throw new UsageError("--tools upload needs --root DIR: the folder whose files may be uploaded.");
  const isOffered = (name: string) => (tools === "all" || wanted.includes(name)) && (root || !isFile(name));
  const offered = new Map([...all].filter(([name]) => isOffered(name)));
  const ids = [...offered.values()];
  const withAccount = ids.find((id) => operations[id].path.includes("{account_id}"));
  await withClient(context, withAccount ?? "rerankDocuments", async (client) => {
    const { serve } = await import("../mcp/server.js");
    const onerror = (error: Error): void => terminal.note(`MCP: ${error.message}`);
    await serve({ client, offered, root: root ?? "", secrets: terminal.secrets, onerror }, signal);
  });
}
