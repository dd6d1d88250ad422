import { join } from "node:path";
import { run } from "./command.js";
import type { Tool, Workplace } from "./tool.js";

/** What came of a client's own build. */
export interface Built {
  readonly built: boolean;
  /** What could not be had for it, in the words of the command that looked; empty where nothing is wanting. */
  readonly notHad: string;
}

/** Runs a client's own build where its toolchain can be had. */
export async function buildWhereHad({ builds }: Tool, { folder }: Workplace): Promise<Built> {
  if (builds === undefined) return { built: false, notHad: "" };
  const cwd = join(folder, "client");
  const [look, ...lookArgs] = builds.had;
  try {
    await run(look, lookArgs, { cwd });
  } catch (error) {
    return { built: false, notHad: `${shown(builds.had)}: ${told(error)}` };
  }
  const [command, ...args] = builds.build;
  await run(command, args, { cwd });
  return { built: true, notHad: "" };
}

function shown([command, ...args]: readonly string[]): string {
  return [command, ...args.map((arg) => (/\s/.test(arg) ? `'${arg}'` : arg))].join(" ");
}

// The error line of what a command printed, after the line that repeats the command.
function told(error: unknown): string {
  const [, ...printed] = String((error as Error).message).split("\n");
  const lines = printed.map((line) => line.trim()).filter((line) => line !== "");
  const chosen = lines.find((line) => /error|exception|ENOENT/i.test(line)) ?? lines.at(-1) ?? "";
  return chosen.slice(0, 200);
}
