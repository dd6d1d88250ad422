// npm run check:generators -- --conformance --busy TIMES: the unbroken clients on a busy machine, where none may fail a row. What
// ran to its end is written into docs/data/conformance.json.
import { spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { cpus } from "node:os";
import { today } from "../check/results.js";
import { clients } from "./clients.js";
import { askedFor, certify, file, type Result } from "./run.js";

const busyLoops = 8;

/** The runs of one client on a busy machine. */
interface BusyRuns {
  readonly name: string;
  readonly date: string;
  readonly node: string;
  readonly processor: string;
  readonly loops: number;
  readonly runs: readonly Pick<Result, "passed" | "failed" | "again" | "seconds">[];
}

/** Runs each client that is written by hand beside busy loops, so many times. */
export async function checkBusy(times: number, only: readonly string[] = []): Promise<void> {
  const measured: BusyRuns[] = [];
  const asked = askedFor(only);
  for (const client of clients.filter((one) => asked(one) && one.generated !== true)) {
    if (client.find && !(await client.find())) continue;
    const runs: BusyRuns["runs"][number][] = [];
    for (let nth = 1; nth <= times; nth++) {
      const { passed, failed, again, seconds } = await besideLoops(() => certify(client));
      console.log(
        `${client.name}, ${nth}: ${passed} passed, ${failed} failed, ${again} served again, in ${seconds} s`,
      );
      if (failed > 0) process.exitCode = 1;
      runs.push({ passed, failed, again, seconds });
    }
    const processors = cpus();
    const processor = `${processors.length} cores of an ${processors[0]?.model}`;
    const { name } = client;
    measured.push({ name, date: today(), node: process.versions.node, processor, loops: busyLoops, runs });
  }
  const kept = JSON.parse(await readFile(file, "utf8")) as { readonly busy?: readonly BusyRuns[] };
  const others = (kept.busy ?? []).filter(({ name }) => !measured.some((one) => one.name === name));
  await writeFile(file, `${JSON.stringify({ ...kept, busy: [...others, ...measured] }, null, 2)}\n`);
}

async function besideLoops<T>(work: () => Promise<T>): Promise<T> {
  const loops = Array.from({ length: busyLoops }, () =>
    spawn(process.execPath, ["--eval", "for (;;);"], { stdio: "ignore" }),
  );
  const stop = (): void => {
    for (const loop of loops) loop.kill("SIGKILL");
  };
  const interrupted = (): void => {
    stop();
    process.exit(1);
  };
  process.once("exit", stop).once("SIGINT", interrupted).once("SIGTERM", interrupted);
  try {
    return await work();
  } finally {
    stop();
    process.off("exit", stop).off("SIGINT", interrupted).off("SIGTERM", interrupted);
  }
}
