import type { OperationId } from "../generated/contract.js";
import type { ReinforcementFineTuningJob } from "../generated/types.js";
import type { MockResponse, Script } from "./mockResponse.js";
import type { TestDataset, TestDeployment, TestRequest, TestServiceOptions } from "./types.js";

// With `keepRequests`, how many bytes of bodies are kept at most.
const mostBodyBytes = 64 * 1024 * 1024;

/** What a test service knows: its options, resources, requests and scripts. */
export class MockState {
  readonly options: TestServiceOptions;
  // A resource is here once a request has named it.
  readonly jobs: Map<string, ReinforcementFineTuningJob> = new Map();
  readonly deployments: Map<string, TestDeployment> = new Map();
  readonly datasets: Map<string, TestDataset> = new Map();
  readonly responses: Map<OperationId, MockResponse> = new Map();
  readonly scripts: Map<OperationId, Script[]> = new Map();
  readonly requests: TestRequest[] = [];
  /** How many requests there were, and how many files were uploaded, since the last reset. */
  readonly count: { requests: number; files: number } = { requests: 0, files: 0 };
  // The bytes of body that each of `requests` keeps in memory.
  readonly #bodyBytes: number[] = [];

  constructor(options: TestServiceOptions) {
    this.options = options;
  }

  record(request: TestRequest, bodyBytes: number): void {
    const { keepRequests = Number.POSITIVE_INFINITY } = this.options;
    this.count.requests++;
    this.requests.push(request);
    if (keepRequests === Number.POSITIVE_INFINITY) return;
    this.#bodyBytes.push(bodyBytes);
    while (
      this.requests.length > keepRequests ||
      this.#bodyBytes.reduce((sum, each) => sum + each, 0) > mostBodyBytes
    ) {
      this.requests.shift();
      this.#bodyBytes.shift();
    }
  }

  /** The operation's next scripted failure, which is then used up. */
  nextScript(operation: OperationId): Script | undefined {
    const [first, ...others] = this.scripts.get(operation) ?? [];
    if (first && --first.times === 0) this.scripts.set(operation, others);
    return first;
  }

  reset(): void {
    const { jobs, deployments, datasets, responses, scripts } = this;
    for (const each of [jobs, deployments, datasets, responses, scripts]) each.clear();
    this.requests.length = this.#bodyBytes.length = this.count.requests = this.count.files = 0;
  }
}
