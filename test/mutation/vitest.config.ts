// The tests that Stryker runs for every mutant: those of the decisions made before and after a request, without Prism.
import type { ViteUserConfig } from "vitest/config";
import base from "../../vitest.config.js";

const files: string[] = [
  "call/ids",
  "call/retryBehaviour",
  "call/retryReasons",
  "call/timers",
  "errors/codes",
  "errors/errorTexts",
  "errors/headers",
  "errors/statusError",
  "files/uploadForms",
  "options/apiKey",
  "options/arguments",
  "options/environment",
  "options/optionNames",
  "options/options",
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
