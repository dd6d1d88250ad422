/**
 * A stand-in for the service, for tests of your own.
 *
 * @module tunerank/testing
 */
export { createTestService } from "./service.js";
export type {
  AnsweredRequest,
  ListenOptions,
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
