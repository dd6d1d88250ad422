import { canaryKey } from "./canary.js";
import { type Outcome, root, run } from "./project.js";

const flags = ["--conditions=tunerank-source", "--import", "tsx", "--input-type=module"];

/** Runs a module of its own process against the sources, which it finds as "./src/index.ts". Its key is in the environment. */
export function runScript(
  script: string,
  env: Record<string, string>,
  {
    node = process.execPath,
    args = [],
    cwd = root,
  }: { node?: string; args?: readonly string[]; cwd?: string } = {},
): Promise<Outcome> {
  return run(node, [...args, ...flags, "-e", script], {
    cwd,
    env: { TUNERANK_API_KEY: canaryKey, ...env },
  });
}
