import type { ReinforcementFineTuningJob } from "../generated/types.js";
import { Refusal } from "./mockResponse.js";
import type {
  TestDataset,
  TestDeployment,
  TestRequest,
  TestServiceOptions,
  TestStoredFile,
} from "./types.js";

/** The mock data: jobs, deployments and datasets. A resource is created when a request first names it. */
export class MockState {
  readonly jobs: Map<string, ReinforcementFineTuningJob> = new Map();
  readonly deployments: Map<string, TestDeployment> = new Map();
  readonly datasets: Map<string, TestDataset> = new Map();
  readonly #options: TestServiceOptions;
  #files = 0;

  constructor(options: TestServiceOptions) {
    this.#options = options;
  }

  reset(): void {
    this.jobs.clear();
    this.deployments.clear();
    this.datasets.clear();
    this.#files = 0;
  }

  /**
   * The job, created if needed.
   * @throws Refusal if the options list the jobs that exist and this is not one of them.
   */
  job(account: string, id: string): ReinforcementFineTuningJob {
    const name = `accounts/${account}/reinforcementFineTuningJobs/${id}`;
    const seed = seedOf(this.#options.jobs, id, name);
    return kept(this.jobs, name, () => ({
      displayName: id,
      createTime: new Date().toISOString(),
      dataset: `accounts/${account}/datasets/${id}`,
      evaluator: `accounts/${account}/evaluators/${id}`,
      state: "JOB_STATE_PAUSED",
      ...seed,
      name,
    }));
  }

  /** The deployment, created if needed. @throws Refusal if the options list deployments and this is not one of them. */
  deployment(account: string, id: string): TestDeployment {
    const name = `accounts/${account}/deployments/${id}`;
    const seed = seedOf(this.#options.deployments, id, name);
    return kept(this.deployments, name, () => ({ name, replicaCount: seed ?? 1 }));
  }

  /** The dataset, created if needed. @throws Refusal if the options list datasets and this is not one of them. */
  dataset(account: string, id: string): TestDataset {
    const name = `accounts/${account}/datasets/${id}`;
    const { datasets } = this.#options;
    if (datasets !== undefined && !datasets.includes(id)) throw missing(name);
    return kept(this.datasets, name, () => ({ name, files: [] }));
  }

  nextFileId(): string {
    return `file-${++this.#files}`;
  }

  addFile({ name, files }: TestDataset, file: TestStoredFile): void {
    this.datasets.set(name, { name, files: [...files, file] });
  }
}

function kept<T>(resources: Map<string, T>, name: string, make: () => T): T {
  const found = resources.get(name) ?? make();
  resources.set(name, found);
  return found;
}

function seedOf<T>(seeds: Readonly<Record<string, T>> | undefined, id: string, name: string): T | undefined {
  if (seeds === undefined) return undefined;
  if (!Object.hasOwn(seeds, id)) throw missing(name);
  return seeds[id];
}

function missing(name: string): Refusal {
  return new Refusal("NOT_FOUND", `There is no ${name}.`);
}

const mostBodyBytes = 64 * 1024 * 1024;

/** The requests that a test service received: all, or with a limit only the most recent ones. */
export class KeptRequests {
  readonly list: TestRequest[] = [];
  count = 0;
  readonly #limit: number;
  readonly #sizes: number[] = [];
  #bytes = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Adds a request. @param bytes How many bytes of the body the request keeps in memory */
  add(request: TestRequest, bytes: number): void {
    this.list.push(request);
    this.#sizes.push(bytes);
    this.#bytes += bytes;
    this.count++;
    if (this.#limit === Number.POSITIVE_INFINITY) return;
    while (this.list.length > this.#limit || this.#bytes > mostBodyBytes) {
      this.list.shift();
      this.#bytes -= this.#sizes.shift() ?? 0;
    }
  }

  clear(): void {
    this.list.length = this.#sizes.length = this.#bytes = this.count = 0;
  }
}
