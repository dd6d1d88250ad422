// Every test, the slow ones and the type tests too: `npm run test:all`.
import { configDefaults, type ViteUserConfig } from "vitest/config";
import base from "../../vitest.config.js";

const config: ViteUserConfig = {
  ...base,
  test: {
    ...base.test,
    exclude: configDefaults.exclude,
    isolate: true,
    // Programs that wait for each other.
    env: { TEST_WAIT_MS: "60000" },
    // Compilers and other programs keep the cores busy by themselves.
    maxWorkers: "100%",
    typecheck: { enabled: true, include: ["test/**/*.test-d.ts"], tsconfig: "./tsconfig.json" },
  },
};

export default config;
