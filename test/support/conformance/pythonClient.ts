// The Python client of contract/conformance/python, as it is or broken in one place.
import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { root } from "../project.js";

const run = promisify(execFile);
const data = path.join(root, "contract/conformance");
const venv = path.join(root, "node_modules/.cache/conformance-python");

/** Python with what the client needs; undefined, and why is said, where it cannot be had. */
export async function findPython(): Promise<string | undefined> {
  const python = path.join(venv, "bin/python");
  try {
    if (existsSync(python)) return python;
    mkdirSync(path.dirname(venv), { recursive: true });
    await run("python3", ["-m", "venv", venv]);
    const requirements = path.join(data, "python/requirements.txt");
    await run(python, ["-m", "pip", "install", "--quiet", "--requirement", requirements]);
    return python;
  } catch (error) {
    rmSync(venv, { recursive: true, force: true });
    console.log(`The Python client is skipped: Python 3.9 with venv and httpx cannot be had here. ${error}`);
    return undefined;
  }
}

/** A change of the client's source that breaks one rule. */
export interface Variant {
  readonly name: string;
  readonly from: string;
  readonly to: string;
  /** The rows that must fail; no other may. */
  readonly fails: RegExp;
  /** The rows that it runs, one at a time: beside others, a request takes as long as the wait that it leaves out. */
  readonly alone?: string;
}

/** Runs the client against a runner; a variant is a copy of it. */
export async function certifyPython(python: string, runner: string, variant?: Variant): Promise<void> {
  const folder = variant ? copyOf(variant) : data;
  try {
    const workers = variant?.alone ? ["1"] : [];
    await run(python, [path.join(folder, "python/certify.py"), runner, ...workers]);
  } finally {
    if (variant) rmSync(folder, { recursive: true, force: true });
  }
}

function copyOf({ name, from, to }: Variant): string {
  const folder = mkdtempSync(path.join(tmpdir(), "tunerank-variant-"));
  for (const file of ["parameters.json", "operations.json"])
    cpSync(path.join(data, file), path.join(folder, file));
  cpSync(path.join(data, "python"), path.join(folder, "python"), { recursive: true });
  const client = path.join(folder, "python/client.py");
  const parts = readFileSync(client, "utf8").split(from);
  if (parts.length !== 2) throw new Error(`${name}: the client has not one place to break.`);
  writeFileSync(client, parts.join(to));
  return folder;
}
