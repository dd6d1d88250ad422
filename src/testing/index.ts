/**
 * A stand-in for the service, for tests of your own.
 *
 * @module tunerank/testing
 */
export { createTestService } from "./service.js";
export type {
  ScriptedFailure,
  TestDataset,
  TestDeployment,
  TestFetch,
  TestFile,
  TestOperation,
  TestRequest,
  TestResponse,
  TestServer,
  TestService,
  TestServiceOptions,
  TestStoredFile,
} from "./types.js";
