// What the labs of the pages show before anybody chooses: each is run here, as it is in the page.
import { calls, type LabOperation, operations } from "../lab/calls.js";
import { type Course, run, runLoop } from "../lab/experiment.js";
import { presets } from "../lab/presets.js";
import type { Page } from "./markdown.js";

/** How long the mock server of the lab takes for a response. */
export const responseMs = 150;

// The labs of the guides, and those of the operations' pages.
const shown: readonly (readonly [LabOperation, string])[] = [
  ["upload", "lost"],
  ["upload", "cut"],
  ["rerank", "unavailable"],
  ["resume", "proxy-503"],
  ...operations.map((operation) => [operation, "nothing"] as const),
];

/** Both lanes of each, by operation and cause. */
export async function labPart(): Promise<Page> {
  const courses = await Promise.all(
    shown.map(async ([operation, id]): Promise<[string, Course[]]> => {
      const preset = presets.find((each) => each.id === id);
      if (preset === undefined) throw new Error(`The lab has no ${id}.`);
      const experiment = { operation, code: calls[operation], preset, times: 1, responseMs };
      return [`${operation} ${id}`, await Promise.all([run(experiment), runLoop(experiment)])];
    }),
  );
  return { path: "parts/lab.json", text: JSON.stringify(Object.fromEntries(courses)) };
}
