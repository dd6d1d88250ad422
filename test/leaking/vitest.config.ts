// The suite's own settings for the files of this folder, which must fail.
import type { ViteUserConfig } from "vitest/config";
import base from "../../vitest.config.js";

const config: ViteUserConfig = {
  ...base,
  test: {
    ...base.test,
    include: ["test/leaking/*.leak.ts"],
    globalSetup: [],
  },
};

export default config;
