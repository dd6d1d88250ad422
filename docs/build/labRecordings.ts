// What the labs of the pages show: each call with each cause, run against the test service when the site is built.
import { operations } from "../lab/calls.js";
import { run, runLoop } from "../lab/experiment.js";
import { presets } from "../lab/presets.js";
import type { Page } from "./markdown.js";

/** Both lanes of each, by operation and cause. */
export async function labPart(): Promise<Page> {
  const pairs = operations.flatMap((operation) => presets.map((preset) => ({ operation, preset })));
  const courses = await Promise.all(
    pairs.map(async ({ operation, preset }) => {
      const experiment = { operation, preset, responseMs: 150 };
      const lanes = await Promise.all([run(experiment), runLoop(experiment)]);
      return [`${operation} ${preset.id}`, lanes] as const;
    }),
  );
  return { path: "parts/lab.json", text: JSON.stringify(Object.fromEntries(courses)) };
}
