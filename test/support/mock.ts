// Vitest's global setup: one mock of the contract for the whole run, through the code behind `npm run mock`.
import type { TestProject } from "vitest/node";
import { startMock } from "../../scripts/mock.js";

declare module "vitest" {
  interface ProvidedContext {
    mockUrl: string;
  }
}

/** Starts the mock and hands its address to `inject("mockUrl")`. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const mock = await startMock();
  project.provide("mockUrl", mock.url);
  return () => mock.stop();
}
