// The tests that Stryker runs for every mutant: those of the decisions made before and after a request, without Prism.
import type { ViteUserConfig } from "vitest/config";
import base from "../../vitest.config.js";

const files: string[] = [
  "apiKey",
  "arguments",
  "baseUrl",
  "codes",
  "environment",
  "headers",
  "ids",
  "notRetried",
  "optionNames",
  "options",
  "refusalTexts",
  "retryAfter",
  "retryDecision",
  "retryErrors",
  "retryEvents",
  "retryReasons",
  "statusError",
  "timerLimits",
  "uploadNames",
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
