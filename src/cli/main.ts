#!/usr/bin/env node
// The `tunerank` command: reads the command line, runs one command; the exit code is its outcome.
import type { Context } from "./context.js";
import { exitCodeOfSignal, exitCodes } from "./exitCodes.js";
import { setUpHelp } from "./help.js";
import { parse } from "./parse.js";
import { createProgram } from "./program.js";
import { createTerminal, type Terminal } from "./terminal.js";

/** Loads what runs each command, when it is run. */
const commands: Readonly<Record<string, () => Promise<{ run(context: Context): Promise<void> }>>> = {
  rerank: () => import("./rerankCommand.js"),
  upload: () => import("./uploadCommand.js"),
  scale: async () => ({ run: (await import("./scaleAndResume.js")).scale }),
  resume: async () => ({ run: (await import("./scaleAndResume.js")).resume }),
  request: () => import("./requestCommand.js"),
  mock: () => import("./mockCommand.js"),
  conformance: () => import("./conformanceCommand.js"),
  completion: () => import("./completionCommand.js"),
};

const signals = Object.keys(exitCodeOfSignal) as (keyof typeof exitCodeOfSignal)[];

// Above what runs, which reads it.
let lost: Error | undefined;

surviveOutputErrors();
process.exitCode = await main(process.argv.slice(2));

async function main(args: string[]): Promise<number> {
  // Known before anything else can fail, so that a failure is reported in the form that was asked for.
  const terminal = createTerminal({
    json: args.includes("--json"),
    quiet: args.includes("--quiet") || args.includes("-q"),
    color: !args.includes("--no-color"),
  });
  const controller = new AbortController();
  let interrupted = exitCodes.interrupted;
  const stop = (signal: keyof typeof exitCodeOfSignal): void => {
    interrupted = exitCodeOfSignal[signal];
    // Whoever asks twice does not want to wait for an explanation.
    if (controller.signal.aborted) process.exit(interrupted);
    controller.abort();
  };
  for (const signal of signals) process.on(signal, stop);
  try {
    await run(args, terminal, controller.signal);
    const lost = await outputError();
    if (lost !== undefined) throw new Error(`The result cannot be written: ${lost.message}`);
    return exitCodes.success;
  } catch (error) {
    const [name = ""] = args;
    // It loads the client, which help and completion do without.
    const { reportFailure } = await import("./reportFailure.js");
    const exitCode = reportFailure(error, terminal, Object.hasOwn(commands, name) ? name : undefined);
    return exitCode === exitCodes.interrupted ? interrupted : exitCode;
  } finally {
    for (const signal of signals) process.off(signal, stop);
  }
}

async function run(args: readonly string[], terminal: Terminal, signal: AbortSignal): Promise<void> {
  const program = createProgram();
  setUpHelp(program, terminal);
  for (const command of program.commands) {
    command.action(async () => {
      const loaded = await commands[command.name()]?.();
      try {
        await loaded?.run({ options: command.opts(), args: command.args, program, terminal, signal });
      } finally {
        // It may still be open; nobody reads it any more. Help never opens it.
        process.stdin.unref?.();
      }
    });
  }
  await parse(program, args);
}

/** Lets a command run to its end whoever reads it: an error of stdout or stderr would end it in the middle of a call. */
export function surviveOutputErrors(): void {
  // What stderr does not take can be shown nowhere else.
  process.stderr.on("error", () => {});
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    // A reader that has seen enough (`| head`) is no failure.
    if (error.code !== "EPIPE") lost ??= error;
  });
}

/** Why stdout has not taken all that was printed, as on a full disk. */
export async function outputError(): Promise<Error | undefined> {
  await new Promise((resolve) => process.stdout.write("", resolve));
  return lost;
}
