import { existsSync } from "node:fs";
import { cp } from "node:fs/promises";
import { dirname, join } from "node:path";
import { callers, run } from "./toolchains.js";

/** The operations by the names that this folder uses for them. */
export const operations = ["resume", "rerank", "scale", "upload"] as const;

export type Operation = (typeof operations)[number];

/** Where one tool works on one document. */
export interface Workplace {
  /** A folder outside of the repository's files, with the document and what `callers/` keeps for the tool. */
  readonly folder: string;
  /** The name of the document in the folder. */
  readonly document: string;
}

/** What a tool cannot do, whatever the document says. */
export interface Shortfall {
  /** The statuses that it does not hand on. */
  readonly statuses: readonly number[];
  /** The error responses, by their names, whose status it does not hand on. */
  readonly responses?: readonly string[];
  readonly why: string;
}

/** A program that the docs show, beside the commands that they show. */
export interface Recipe {
  /** Its page below docs/. */
  readonly page: string;
  readonly program: string;
  /** Where its page says to save it. */
  readonly savedAs: string;
  /** The folder of the programs that its commands installed. */
  bin(): Promise<string>;
}

type Command = readonly [command: string, ...args: string[]];

/** A generator: makes a client, compiles it together with the caller kept for it, and runs that caller. */
export interface Tool {
  readonly name: string;
  readonly language: string;
  readonly version: string;
  /** What must be on the machine, by the names of toolchains.ts. */
  readonly needs: readonly string[];
  /** The documents it is tried with: the forms for clients, or those of them that the tool can read. */
  readonly documents: readonly string[];
  /** The command of the tool's own manual, with `openapi-client.json` or its 3.0 form, and the output `client`. */
  readonly command: string;
  /** The command that gets the tool, of the version above; none where its own command does so, or a build. */
  readonly get?: string;
  /** The program of a recipe of docs/recipes, run with the client by the last of the recipe's commands. */
  readonly recipe?: Recipe;
  /** What stands for the first words of the command, up to the tool's name. */
  program?(): Promise<readonly string[]>;
  /** Instead of running the command, for tools that are no program. */
  generate?(workplace: Workplace): Promise<void>;
  /** None where the client is generated only, or `builds` compiles it. */
  compile?(workplace: Workplace): Promise<void>;
  /** What `compile` does is to parse: more cannot be had. */
  readonly parsedOnly?: true;
  /** Runs the caller and returns what it printed; none where the client cannot be called here. */
  call?(workplace: Workplace, env: Readonly<Record<string, string>>): Promise<string>;
  /** The operations that the tool has no client for, none by default. */
  readonly unsupported?: readonly Operation[];
  readonly shortfall?: Shortfall;
  /** The client's own build, run in its folder where `had` finds the toolchain; else what `had` said is kept. */
  readonly builds?: { readonly had: Command; readonly build: Command };
  /** What someone who uses this tool has to know. */
  readonly note?: string;
}

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
