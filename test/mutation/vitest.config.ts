// The tests that Stryker runs for every mutant: those of the decisions made before and after a request, without Prism.
import type { ViteUserConfig } from "vitest/config";
import base from "../../vitest.config.js";

const files: string[] = [
  "call/{retryBehaviour,retryReasons,timers}",
  "errors/*",
  "files/uploadForms",
  "options/{apiKey,arguments,environment,headers,options}",
  "policy/retryDecision",
];

const config: ViteUserConfig = {
  ...base,
  test: {
    ...base.test,
    include: files.map((file) => `test/${file}.test.ts`),
    globalSetup: [],
    isolate: true,
  },
};

export default config;
