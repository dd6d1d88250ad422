import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig, type ViteUserConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

// The first makes "#platform" mean src, so that nothing has to be built before a test; the others are the defaults.
const conditions: string[] = ["tunerank-source", "module", "node", "development|production"];

// Documented code names the package as its users do, and runs from src.
const sourceOf = (file: string): string => fileURLToPath(new URL(`src/${file}`, import.meta.url));
const alias: { find: RegExp; replacement: string }[] = [
  { find: /^tunerank$/, replacement: sourceOf("index.ts") },
  { find: /^tunerank\/bulk$/, replacement: sourceOf("bulk/index.ts") },
  { find: /^tunerank\/openapi-fetch$/, replacement: sourceOf("adapters/openapiFetch.ts") },
  { find: /^tunerank\/testing$/, replacement: sourceOf("testing/index.ts") },
];

// Small files, which the usual order runs last, that wait long: alone at the end they would keep every other core idle.
const long = /\/(addresses|bulkPaid|faults)\.test\.ts$/;

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return [true, false].flatMap((first) => sorted.filter(({ moduleId }) => long.test(moduleId) === first));
  }
}

const config: ViteUserConfig = defineConfig({
  resolve: { conditions, alias },
  ssr: { resolve: { conditions } },
  test: {
    include: ["test/**/*.test.ts"],
    // What is slow or needs a tool that not everybody has: `npm run test:all` runs it too.
    exclude: ["test/all/**"],
    // Tests wait for sockets and timers: one more than there are cores keeps these busy.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: LongestFirst },
    // Half of the time would go into starting a process for each file. `npm run test:all` starts them.
    isolate: false,
    // Only ends what hangs, also on a busy machine: what a test says about time it asserts itself.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 120_000, interval: 10 } },
    globalSetup: ["test/support/mock.ts"],
    setupFiles: ["test/support/canarySetup.ts"],
    // A rejection nobody handles ends the run as an exception does.
    execArgv: ["--unhandled-rejections=strict"],
  },
});

export default config;
