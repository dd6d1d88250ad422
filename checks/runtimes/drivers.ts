// How the checks run where a runtime is a program that prints its results (Node, Bun, Deno), and in workerd.
import { execFile, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";

const run = promisify(execFile);

/** A check's name, and what is wrong, if anything is. */
export type CheckResult = readonly [name: string, error?: string];

/** What the checks of one runtime work with. */
export interface Place {
  /** A project that has the package installed, and the checks. */
  readonly user: string;
  readonly baseUrl: string;
  /** An address where nobody listens. */
  readonly closedUrl: string;
  /** A file to upload by its path, where the runtime has paths. */
  readonly file: string;
  /** The folder of the libraries that the checks of Node load. */
  readonly modules: string;
}

/** A runtime that is a program, the arguments it takes before a file, and how it is started. */
export interface Runtime {
  readonly program: string;
  readonly args?: readonly string[];
  /** A command that starts it. */
  readonly within?: readonly string[];
  /** Its whole environment; this process's when absent. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs the checks in a runtime that is a program. */
export async function checkInProcess(runtime: Runtime, place: Place): Promise<CheckResult[]> {
  const { program, args = [], within = [], env } = runtime;
  const { user, baseUrl, closedUrl, file, modules } = place;
  const own = [path.join(user, "onServer.js"), baseUrl, closedUrl, file, modules];
  const [command = program, ...rest] = [...within, program, ...args, ...own];
  const { stdout } = await run(command, rest, { cwd: user, timeout: 120_000, ...(env && { env }) });
  return JSON.parse(stdout.slice(stdout.indexOf("[[")));
}

/** The version a program tells. */
export async function versionOf(program: string): Promise<string> {
  const { stdout } = await run(program, ["--version"]);
  const [version] = /\d+[.-]\d+\S*/.exec(stdout) ?? [];
  if (version === undefined) throw new Error(`${program} tells no version: ${stdout}`);
  return version;
}

// workerd: a worker of one bundle, run by `workerd test`.

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

// The runtimes that are programs, each in the ways that its users start it.

/** A runtime by the name that the docs have. */
export type NamedRuntime = Runtime & { readonly name: string };

/** Where one of the installed programs is. */
export const binary = (file: string): string =>
  fileURLToPath(new URL(`node_modules/${file}`, import.meta.url));

const nodeOf = (major: number): string => binary(`node-${major}/bin/node`);
const deno = binary("@deno/linux-x64-glibc/deno");
// Nothing may be written, and nobody is at home.
const readOnly = ["unshare", "-rm", "sh", "-c", 'mount -o remount,ro,bind / && exec "$@"', "sh"];

/** Every program. @param user The project that has the package. @param file What is uploaded by its path. */
export function programsOf(user: string, file: string): readonly NamedRuntime[] {
  const net = ["run", "--no-prompt", "--allow-net=127.0.0.1", `--allow-read=${file}`];
  const readable = [user, file, binary("")].map((each) => `--allow-fs-read=${each}`);
  const permission = ["--permission", ...readable];
  const denoKey = { HOME: user, TUNERANK_API_KEY: "key-of-deno" };
  return [
    ...[20, 22, 24, 26].map((major) => ({ name: "Node", program: nodeOf(major) })),
    ...[22, 24].map((major) => ({ name: "Node, --permission", program: nodeOf(major), args: permission })),
    {
      name: "Node, --disallow-code-generation-from-strings",
      program: nodeOf(24),
      args: ["--disallow-code-generation-from-strings"],
    },
    { name: "Node, read-only, no HOME", program: nodeOf(24), within: readOnly, env: {} },
    { name: "Bun", program: binary("@oven/bun-linux-x64/bin/bun") },
    { name: "Deno, --allow-net=HOST", program: deno, args: net },
    {
      name: "Deno, --allow-net --allow-env",
      program: deno,
      args: [...net, "--allow-env=TUNERANK_API_KEY"],
      env: denoKey,
    },
  ];
}

/** Why a program cannot be started here; undefined when it can. */
export function unableTo(within: NamedRuntime["within"]): string | undefined {
  if (within === undefined) return undefined;
  const [command = "", ...args] = [...within, "true"];
  const { status, stderr } = spawnSync(command, args, { encoding: "utf8" });
  return status === 0 ? undefined : `no file system can be made read-only here (${stderr?.trim()})`;
}
