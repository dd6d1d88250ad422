// What the labs of the pages show: each call with each cause, run against the test service when the site is built.
import { operations } from "../lab/calls.js";
import { type Course, run, runLoop } from "../lab/experiment.js";
import { presets } from "../lab/presets.js";
import type { Page } from "./markdown.js";

/** Both lanes of each, by operation and cause. */
export async function labPart(): Promise<Page> {
  const courses: [string, readonly Course[]][] = [];
  // The timers of a service that stalls keep no process alive.
  const alive = setInterval(() => {}, 1000);
  // One after the other: a busy process would be told as a slow client.
  for (const operation of operations)
    for (const preset of presets) {
      const experiment = { operation, preset, responseMs: 150 };
      const lanes = [await run(experiment), await runLoop(experiment)];
      courses.push([`${operation} ${preset.id}`, lanes]);
    }
  clearInterval(alive);
  return { path: "parts/lab.json", text: JSON.stringify(Object.fromEntries(courses)) };
}
