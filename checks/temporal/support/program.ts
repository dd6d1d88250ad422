import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

/** Starts one of the documented programs in a process of its own, as its user would. */
export function startProgram(
  file: string,
  cwd: string,
  env: Readonly<Record<string, string>>,
): ChildProcess & { readonly printed: () => string } {
  const program = fileURLToPath(new URL(`../documented/${file}`, import.meta.url));
  const tsx = import.meta.resolve("tsx");
  const child = spawn(process.execPath, ["--import", tsx, program], {
    cwd,
    env: { PATH: process.env.PATH, TUNERANK_API_KEY: "test-key", TUNERANK_ACCOUNT_ID: "acme", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (data) => {
      text += data;
    });
  return Object.assign(child, { printed: () => text });
}

/** Runs one to its end. @returns what it prints */
export async function runProgram(...given: Parameters<typeof startProgram>): Promise<string> {
  const child = startProgram(...given);
  await new Promise((resolve) => child.once("close", resolve));
  return child.printed();
}
