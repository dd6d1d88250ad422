import { defineConfig, type ViteUserConfig } from "vitest/config";

// The first makes "#platform" mean src, so that nothing has to be built before a test; the others are the defaults.
const conditions: string[] = ["tunerank-source", "module", "node", "development|production"];

const config: ViteUserConfig = defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ["test/**/*.test.ts"],
    // On two cores the default is one worker at a time.
    maxWorkers: "100%",
    globalSetup: ["test/support/mock.ts"],
    typecheck: { enabled: true, include: ["test/**/*.test-d.ts"], tsconfig: "./tsconfig.json" },
  },
});

export default config;
