import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const folder = fileURLToPath(new URL("..", import.meta.url));

/** Runs a program of this folder in a process of its own, as its user would. @returns what it prints */
export async function runProgram(
  file: string,
  baseUrl: string,
  extra: Readonly<Record<string, string>> = {},
  node = process.execPath,
): Promise<string> {
  const env = {
    PATH: process.env.PATH,
    TUNERANK_BASE_URL: baseUrl,
    TUNERANK_API_KEY: "test-key",
    TUNERANK_ACCOUNT_ID: "acme",
    ...extra,
  };
  const { stdout } = await promisify(execFile)(node, [file], { cwd: folder, env });
  return stdout;
}
