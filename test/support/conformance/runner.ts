import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { outcomeOf, start } from "../commandLine.js";
import type { Outcome } from "../project.js";
import { soon } from "../turns.js";

/** `tunerank conformance` on a free port. */
export interface Runner {
  readonly url: string;
  readonly child: ChildProcess;
  /** What it said, once it has ended. */
  readonly outcome: Promise<Outcome>;
  /** What `--json` printed of the run. */
  report(): Promise<Report>;
}

/** The report of a run. */
export interface Report {
  readonly revision: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly neverServed: number;
  readonly skippedFor: Readonly<Record<string, number>>;
  readonly cut: string | null;
  readonly rows: readonly { readonly id: string; readonly result: string; readonly differences: string[] }[];
}

/** Starts the command. */
export async function startRunner(...args: readonly string[]): Promise<Runner> {
  return await runnerOf(start(["conformance", "--port", "0", "--json", ...args]));
}

/** A command that was started, once it listens. */
export async function runnerOf(child: ChildProcess): Promise<Runner> {
  const outcome = outcomeOf(child, 900_000);
  const heard = once(child.stderr as NonNullable<ChildProcess["stderr"]>, "data");
  const [line] = (await soon(heard, "the runner listens")) as [Buffer];
  const { url } = JSON.parse(`${line}`.split("\n")[0] ?? "") as { url: string };
  const report = async (): Promise<Report> => JSON.parse((await outcome).stdout) as Report;
  return { url, child, outcome, report };
}

/** What the client lacked of a run: that of skipped rows, without what this machine cannot do. */
export const lackedIn = ({ skippedFor }: Report): readonly string[] =>
  Object.keys(skippedFor)
    .filter((name) => !name.startsWith("this machine"))
    .sort();

/** The next row. */
export async function next(url: string): Promise<Record<string, unknown>> {
  return (await (await fetch(`${url}/next`)).json()) as Record<string, unknown>;
}

/** Posts an outcome, as an object or as it is; the status and the JSON of the response. */
export async function post(url: string, outcome: unknown): Promise<[number, Record<string, unknown>]> {
  const body = typeof outcome === "string" ? outcome : JSON.stringify(outcome);
  const response = await fetch(`${url}/outcome`, { method: "POST", body });
  return [response.status, (await response.json()) as Record<string, unknown>];
}
