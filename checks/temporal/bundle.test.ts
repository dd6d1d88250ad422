import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { bundleWorkflowCode, DefaultLogger, Runtime, Worker } from "@temporalio/worker";

// Below this folder, so that Temporal's packages and the package itself are found.
const cache = fileURLToPath(new URL(".cache", import.meta.url));
mkdirSync(cache, { recursive: true });
const folder = mkdtempSync(path.join(cache, "bundle-"));
after(() => rmSync(folder, { recursive: true }));

async function bundle(source: string): Promise<string> {
  const workflowsPath = path.join(folder, "workflows.ts");
  writeFileSync(workflowsPath, source);
  const { code } = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger("ERROR") });
  return code;
}

const proxies = `import { proxyActivities } from "@temporalio/workflow";
import type { Activities } from "tunerank/temporal";
export const { rerank } = proxyActivities<Activities>({ startToCloseTimeout: 1000 });
`;

test("Temporal's bundler takes the workflows, with nothing of the client and nothing of Node", async () => {
  const code = await bundle(`${proxies}export { rerankMany } from "tunerank/temporal/workflows";\n`);
  assert.match(code, /rerankMany/);
  // The bundler itself refuses what is Node's. This is the client's.
  assert.doesNotMatch(code, /StatusError|createClient|authorization|x-request-id/i);
});

// onServer/bulk.test.ts recorded it: continued as new, two chunks at once.
const history = JSON.parse(readFileSync(new URL("rerankMany.history.json", import.meta.url), "utf8"));
Runtime.install({ logger: new DefaultLogger("ERROR", () => {}) });

async function replay(source: string): Promise<void> {
  const code = await bundle(source);
  await Worker.runReplayHistory({ workflowBundle: { code } }, history);
}

test("a workflow that runs while the package is updated goes on: a recorded history replays", async () => {
  await replay('export { rerankMany } from "tunerank/temporal/workflows";\n');
});

test("a change that it would not survive would be found", async () => {
  const changed = `import { sleep } from "@temporalio/workflow";
import { rerankMany as ours, type RerankManyInput } from "tunerank/temporal/workflows";
export const rerankMany = async (input: RerankManyInput) => { await sleep(1); return ours(input); };
`;
  await assert.rejects(replay(changed), { name: "DeterminismViolationError" });
});

test("it refuses the activities in a workflow, so that would show", async () => {
  await assert.rejects(
    bundle('export { createActivities } from "tunerank/temporal";\n'),
    /@temporalio\/activity/,
  );
});

test("the entries can be imported and required beside Temporal's packages", async () => {
  const { createRequire } = await import("node:module");
  const require = createRequire(import.meta.url);
  assert.deepEqual(Object.keys(await import("tunerank/temporal")), ["createActivities"]);
  assert.deepEqual(Object.keys(require("tunerank/temporal")), ["createActivities"]);
  // A workflow's module runs nowhere but in the sandbox; loading it does no harm.
  assert.deepEqual(Object.keys(await import("tunerank/temporal/workflows")), ["rerankMany"]);
  assert.deepEqual(Object.keys(require("tunerank/temporal/workflows")), ["rerankMany"]);
});
