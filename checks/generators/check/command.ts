import { execFile } from "node:child_process";
import { promisify } from "node:util";

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
