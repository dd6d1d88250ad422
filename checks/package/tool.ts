import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const execute = promisify(execFile);

/** A file of a package that this folder has installed. */
export function tool(file: string): string {
  return fileURLToPath(new URL(`node_modules/${file}`, import.meta.url));
}

/** What a program of Node's prints. Throws with that when it fails: tools print there what they found. */
export async function runNode(
  args: readonly string[],
  cwd?: string,
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { stdout } = await execute(process.execPath, args, {
    cwd,
    // Colours would stand between the words.
    env: { ...process.env, NO_COLOR: "1", FORCE_COLOR: undefined, ...env },
    maxBuffer: 2 ** 26,
    // What hangs is ended and told.
    timeout: 240_000,
  }).catch(({ stdout = "", stderr = "", message, killed }) => {
    throw new Error(`${killed ? "It did not end. " : ""}${stdout}${stderr}`.trim() || message);
  });
  return stdout;
}

/** Does a thing with each, two at a time: as many as there are cores on the smallest machines of CI. */
export async function inPairs<T>(items: readonly T[], each: (item: T) => Promise<void>): Promise<void> {
  const left = [...items];
  const worker = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await each(item);
  };
  await Promise.all([worker(), worker()]);
}
