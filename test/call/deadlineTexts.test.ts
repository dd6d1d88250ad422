import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { operations } from "../../src/generated/contract.js";
import { root } from "../support/project.js";

const { timeoutMs: rerank } = operations.rerankDocuments;
const { timeoutMs: resume } = operations.resumeReinforcementFineTuningJob;
const { timeoutMs: scale } = operations.scaleDeployment;
const { timeoutMs: upload, bytesPerSecond = 0 } = operations.uploadDatasetFile;
const rate = `${bytesPerSecond / 1024} KiB`;
const seconds = (ms: number): string => `${ms / 1000} s`;
const thousands = (ms: number): string => ms.toLocaleString("en-US");

// The places that name the default deadlines: all of them, as the contract has them.
const places: readonly (readonly [file: string, text: string])[] = [
  [
    "README.md",
    `rerank ${seconds(rerank)}, resume and scale ${seconds(resume)}, upload ${seconds(upload)} plus a second for each ${rate}`,
  ],
  [
    "docs/guide/retries.md",
    `rerank ${seconds(rerank)}; resume and scale ${seconds(resume)}; upload ${seconds(upload)} + 1 s for each ${rate}`,
  ],
  ["docs/guide/rerank.md", `Its deadline is ${seconds(rerank)}`],
  ["docs/guide/resume.md", `Its deadline is ${seconds(resume)}`],
  ["docs/guide/scale.md", `\`timeoutMs\` (${seconds(scale)})`],
  ["docs/guide/upload.md", `The deadline is ${seconds(upload)} plus a second for each ${rate}`],
  [
    "src/options/callOptions.ts",
    `rerank ${thousands(rerank)}; resume and scale ${thousands(resume)}; upload ${thousands(upload)} + 1,000 for each ${rate}`,
  ],
];

test.each(places)("%s names the deadlines of the contract", (file, text) => {
  const words = readFileSync(path.join(root, file), "utf8").replace(/\s*\n\s*\*?\s*/g, " ");
  expect(words).toContain(text);
});

test("resume and scale have the same deadline, as those texts say", () => {
  expect(scale).toBe(resume);
});
