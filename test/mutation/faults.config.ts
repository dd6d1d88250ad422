// The tests that notice a fault: any file, without the mock of `npm test`, whose tests no fault names.
import { configDefaults, type ViteUserConfig } from "vitest/config";
import base from "../../vitest.config.js";

const config: ViteUserConfig = {
  ...base,
  test: {
    ...base.test,
    exclude: configDefaults.exclude,
    globalSetup: [],
    // A poll that never succeeds is a failed assertion, not a hang.
    expect: { poll: { timeout: 8000, interval: 10 } },
    env: { TEST_WAIT_MS: "8000" },
  },
};

export default config;
