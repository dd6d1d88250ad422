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
