// Node, Bun and Deno: a process that prints its results.
import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Runs the checks in a runtime that is a program. */
export async function checkInProcess({ program, args = [] }, { user, baseUrl, closedUrl, file }) {
  const { stdout } = await run(
    program,
    [...args, path.join(user, "onServer.js"), baseUrl, closedUrl, file ?? ""],
    {
      cwd: user,
      timeout: 120_000,
    },
  );
  return JSON.parse(stdout.slice(stdout.indexOf("[[")));
}

/** The version a program tells. */
export async function versionOf(program) {
  const { stdout } = await run(program, ["--version"]);
  return /\d+[.-]\d+\S*/.exec(stdout)[0];
}
