// Why one would choose it: what was measured and tested, in a list.
import { readFile } from "node:fs/promises";
import { isOlder, readResults } from "../../bench/results.js";
import { readData } from "./data.js";
import type { Page } from "./markdown.js";

interface Client {
  readonly tool: string;
  readonly called: number;
}

/** The list of the home page and of the README. */
export async function reasonsPart(): Promise<Page> {
  const { node, scenarios } = Object.values(readResults()).at(-1) ?? {};
  const cpu = scenarios?.cpuPerCall;
  const { tunerank = 1, openai = 0 } = cpu?.medians ?? {};
  const { clients } = await readData<{ clients: readonly Client[] }>(
    "generators.json",
    "npm run check:generators",
  );
  const called = new Set(clients.filter((each) => each.called > 0).map(({ tool }) => tool)).size;
  const { dependencies = {} } = JSON.parse(
    await readFile(new URL("../../package.json", import.meta.url), "utf8"),
  );
  const lines = [
    "The client does not send again an upload or a resume that may have run, unless the service itself asks for a retry: [Did it run?](/guide/errors.md#did-it-run)",
    // A figure that is older than the code is not shown.
    ...(cpu === undefined || isOlder(cpu)
      ? []
      : [
          `A call takes 1/${Math.floor(openai / tunerank)} of the CPU of the openai package ([Node ${node}, ${cpu.date.slice(0, 10)}](/guide/benchmarks.md)).`,
        ]),
    `For [other languages](/guide/languages.md), clients from ${called} code generators were compiled and called.`,
    `${Object.keys(dependencies).length} dependencies: [security](/guide/security.md).`,
  ];
  return { path: "parts/reasons.md", text: lines.map((line) => `- ${line}`).join("\n") };
}
