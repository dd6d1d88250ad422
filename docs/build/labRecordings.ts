// What the labs of the pages show before anybody chooses: each is run here, as it is in the page.
import type { LabOperation } from "../lab/calls.js";
import { run, runLoop } from "../lab/experiment.js";
import { presets } from "../lab/presets.js";
import type { Page } from "./markdown.js";

/** The labs of the guides. */
export const shown: readonly (readonly [LabOperation, string])[] = [
  ["upload", "lost"],
  ["upload", "cut"],
  ["rerank", "unavailable"],
  ["resume", "proxy-503"],
];

/** Both lanes of each, by operation and cause. */
export async function labPart(): Promise<Page> {
  const courses: [string, object][] = [];
  for (const [operation, id] of shown) {
    const preset = presets.find((each) => each.id === id);
    if (preset === undefined) throw new Error(`The lab has no ${id}.`);
    const experiment = { operation, preset, responseMs: 150 };
    courses.push([`${operation} ${id}`, [await run(experiment), await runLoop(experiment)]]);
  }
  return { path: "parts/lab.json", text: JSON.stringify(Object.fromEntries(courses)) };
}
