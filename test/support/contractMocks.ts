import { afterAll, inject } from "vitest";
import type { OperationId } from "../../src/index.js";
import { createTestService, type TestOperation } from "../../src/testing/index.js";
import { errorStatuses } from "./serviceTables.js";

/** What stands in for the service, and keeps to the contract. */
export interface ContractMock {
  readonly name: string;
  readonly url: string;
  /** Whether it answers with the contract's examples, whatever is sent. */
  readonly answersExamples: boolean;
  /** Headers for the next request, which it is to answer with this failure; without a code, the status's first. */
  refuse(operation: OperationId, httpStatus: number, code?: string): Record<string, string>;
  /** Forgets what was asked of it. */
  reset(): void;
}

const names: Readonly<Record<OperationId, TestOperation>> = {
  resumeReinforcementFineTuningJob: "resume",
  rerankDocuments: "rerank",
  scaleDeployment: "scale",
  uploadDatasetFile: "upload",
};

/** Both of them, for the tests of the calling file. */
export async function useContractMocks(): Promise<readonly ContractMock[]> {
  const service = createTestService();
  const server = await service.listen();
  afterAll(() => server.close());
  const prism: ContractMock = {
    name: "Prism",
    url: inject("mockUrl"),
    answersExamples: true,
    refuse: (_operation, httpStatus, code) => ({
      prefer: code === undefined ? `code=${httpStatus}` : `code=${httpStatus}, example=${code}`,
    }),
    reset() {},
  };
  const standIn: ContractMock = {
    name: "tunerank/testing",
    url: server.url,
    answersExamples: false,
    refuse(operation, status, code = new Map(errorStatuses).get(status)) {
      service.fail(names[operation], { status, code: code as "UNKNOWN" });
      return {};
    },
    reset: () => service.reset(),
  };
  return [prism, standIn];
}
