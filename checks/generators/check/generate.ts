import { existsSync } from "node:fs";
import { cp } from "node:fs/promises";
import { dirname, join } from "node:path";
import { run } from "./command.js";
import { callers } from "./folders.js";
import type { Tool, Workplace } from "./tool.js";

/** Puts the document and the tool's caller into the folder, and runs the command of the tool's manual there. */
export async function generateClient(tool: Tool, workplace: Workplace, source: string): Promise<void> {
  const { folder, document } = workplace;
  await cp(source, join(folder, document));
  const caller = callers(tool.name.replaceAll(/[^\w.]+/g, "-").replace(/^-/, ""));
  if (existsSync(caller)) await cp(caller, folder, { recursive: true });
  if (tool.generate !== undefined) return tool.generate(workplace);
  const program = (await tool.program?.()) ?? [];
  const [command = "", ...args] = [...program, ...argumentsOf(tool.command)].map((each) =>
    each.replace(/^openapi-client(-3\.0)?\.json$/, document),
  );
  // Some tools start programs that stand beside them.
  await run(command, args, { cwd: folder, env: { PATH: `${dirname(command)}:${process.env.PATH}` } });
}

// "java -jar openapi-generator-cli.jar generate ..." and "npx orval ..." name the tool by more than one word.
function argumentsOf(command: string): string[] {
  return command.replace(/^(java -jar \S+|npx \S+|\S+) /, "").split(" ");
}
