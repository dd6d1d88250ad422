// workerd: a worker of one bundle, run by `workerd test`.
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import type { CheckResult, Place } from "./process.js";

const run = promisify(execFile);

/** Runs the checks in workerd. */
export async function checkInWorkerd(
  program: string,
  { user, baseUrl, closedUrl }: Place,
): Promise<CheckResult[]> {
  await build({
    entryPoints: [path.join(user, "inWorkerd.js")],
    outfile: path.join(user, "worker.js"),
    bundle: true,
    format: "esm",
    conditions: ["workerd"],
    logLevel: "error",
  });
  const config = path.join(user, "workerd.capnp");
  writeFileSync(config, configuration(baseUrl, closedUrl));
  const { stdout, stderr } = await run(program, ["test", config], { cwd: user, timeout: 120_000 });
  const said = /RESULTS (.*)/.exec(stdout + stderr)?.[1];
  if (said === undefined) throw new Error(`workerd printed no results:\n${stderr}`);
  return JSON.parse(said);
}

// Its own network may not reach this machine unless it is told so.
function configuration(baseUrl: string, closedUrl: string): string {
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "checks", worker = (
      modules = [(name = "worker", esModule = embed "worker.js")],
      compatibilityDate = "2026-11-01",
      bindings = [
        (name = "baseUrl", text = "${baseUrl}"),
        (name = "closedUrl", text = "${closedUrl}"),
        (name = "self", service = "checks"),
      ],
      globalOutbound = "network",
    )),
    (name = "network", network = (allow = ["private"])),
  ],
);
`;
}
