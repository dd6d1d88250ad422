import { operations } from "../generated/contract.js";
import { type Context, UsageError } from "./context.js";
import { operationIds, requestRules } from "./operations.js";
import { operationOfCommand } from "./options.js";
import { withClient } from "./withClient.js";

/** Runs `tunerank mcp`. */
export async function run(context: Context): Promise<void> {
  const { options, terminal, signal } = context;
  const { tools = "rerank", root } = options;
  // A command's name, if there is one for the operation.
  const { bulk: _, ...commands } = operationOfCommand;
  const nameOf = new Map(Object.entries(commands).map(([name, id]) => [id, name]));
  const all = new Map(operationIds.map((id) => [nameOf.get(id) ?? id, id]));
  const wanted = tools.split(",");
  if (tools !== "all" && !wanted.every((name) => all.has(name)))
    throw new UsageError(`--tools must be all, or some of ${[...all.keys()].join(",")}.`);
  const isFile = (name: string): boolean =>
    requestRules(all.get(name) ?? "rerankDocuments").file !== undefined;
  if (root === undefined && tools !== "all" && wanted.some(isFile))
    throw new UsageError("--tools upload needs --root DIR: the folder whose files may be uploaded.");
  const offered = new Map(
    [...all].filter(
      ([name]) => (tools === "all" || wanted.includes(name)) && (root !== undefined || !isFile(name)),
    ),
  );
  const ids = [...offered.values()];
  const withAccount = ids.find((id) => operations[id].path.includes("{account_id}"));
  const secrets: string[] = [process.env.TUNERANK_API_KEY ?? ""];
  // The key of --api-key-file is known only once the client is created.
  const hide = (key: string): Promise<void> => {
    secrets.push(key);
    return terminal.hide(key);
  };
  await withClient(
    { ...context, terminal: { ...terminal, hide } },
    withAccount ?? "rerankDocuments",
    async (client) => {
      const { serve } = await import("../mcp/server.js");
      const onerror = (error: Error): void => terminal.note(`MCP: ${error.message}`);
      await serve({ client, offered, root: root ?? "", secrets, onerror }, signal);
    },
  );
}
