// What the labs of the pages show: each call with each cause, run against the test service when the site is built.
import { operations } from "../lab/calls.js";
import { type Course, run, runLoop } from "../lab/experiment.js";
import { presets } from "../lab/presets.js";
import type { Page } from "./markdown.js";

/** Both lanes of each, by operation and cause. */
export async function labPart(): Promise<Page> {
  const shown: Record<string, readonly Course[]> = {};
  // The timers of a service that stalls keep no process alive.
  const alive = setInterval(() => {}, 1000);
  const experiments = operations.flatMap((operation) =>
    presets.map((preset) => ({ operation, preset, responseMs: 150 })),
  );
  // What a first failure loads is no part of what is shown.
  await Promise.all(experiments.map(run));
  // One after the other, and again where the machine was busy: that would be told as a slow client.
  for (const experiment of experiments)
    for (let runs = 0, isEven = false; runs < 5 && !isEven; runs++) {
      const lanes = [await run(experiment), await runLoop(experiment)];
      const [one = 0, other = 0] = lanes.map(({ stretches: [first] }) => first?.to);
      isEven = Math.abs(one - other) < 25;
      shown[`${experiment.operation} ${experiment.preset.id}`] = lanes;
    }
  clearInterval(alive);
  return { path: "parts/lab.json", text: JSON.stringify(shown) };
}
