// The stand-in of an example, started by the command that its page shows, on a port that is free.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** Where a reader's stand-in listens. */
export const readersHost = "127.0.0.1:4010";

/** A stand-in that runs. */
export interface StandIn {
  readonly host: string;
  /** Its first line. */
  readonly said: string;
  stop(): Promise<void>;
}

/** Whether a block is the command of a stand-in. */
export function isStandIn(text: string): boolean {
  return text.startsWith("npx tunerank mock");
}

/** Starts it, and waits until it listens. */
export async function startStandIn(command: string, folder: string): Promise<StandIn> {
  const words = command.replace("npx tunerank", "exec node_modules/.bin/tunerank").replace(/ --port \d+/, "");
  const child = spawn("sh", ["-c", `${words} --port 0`], {
    cwd: folder,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const ended = once(child, "exit").then(() => "");
  const said = await Promise.race([once(createInterface(child.stdout), "line").then(String), ended]);
  const [, host] = /http:\/\/([\d.:]+\d)/.exec(said) ?? [];
  if (host === undefined) throw new Error(`${command} did not start.`);
  const stop = async () => {
    child.kill();
    await ended;
  };
  return { host, said, stop };
}
