import { type ChildProcess, fork } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import {
  Client,
  Connection,
  WorkflowFailedError,
  type WorkflowHandle,
  type WorkflowHandleWithFirstExecutionRunId,
} from "@temporalio/client";
import { ActivityFailure, ApplicationFailure, CancelledFailure } from "@temporalio/common";
import { bundleWorkflowCode, DefaultLogger, Runtime } from "@temporalio/worker";
import type { CallFailure, ChunkRequest, ChunkResult } from "tunerank/temporal";

const { TEMPORAL_ADDRESS: address = "", TEMPORAL_NAMESPACE: namespace = "" } = process.env;

/** A real Temporal server, and workers to start and kill. */
export interface Engine {
  readonly folder: string;
  readonly client: Client;
  /** Starts a worker on a task queue, and waits until it polls. @param server The address by which it finds the server */
  startWorker(taskQueue: string, service: string, server?: string): Promise<ChildProcess>;
  start(
    taskQueue: string,
    workflow: string,
    ...args: unknown[]
  ): Promise<WorkflowHandleWithFirstExecutionRunId>;
  stop(): Promise<void>;
}

export async function connectEngine(): Promise<Engine> {
  Runtime.install({ logger: new DefaultLogger("ERROR") });
  const folder = mkdtempSync(path.join(tmpdir(), "tunerank-temporal-"));
  const workflowsPath = fileURLToPath(new URL("workflows.ts", import.meta.url));
  const { code } = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger("ERROR") });
  const bundle = path.join(folder, "workflows.js");
  writeFileSync(bundle, code);
  writeFileSync(path.join(folder, uploaded), '{"text":"good"}\n');
  const connection = await Connection.connect({ address });
  const client = new Client({ connection, namespace });
  const workers = new Set<ChildProcess>();
  let started = 0;
  return {
    folder,
    client,
    async startWorker(taskQueue, service, server = address) {
      const env = {
        PATH: process.env.PATH,
        ADDRESS: server,
        NAMESPACE: namespace,
        TASK_QUEUE: taskQueue,
        BUNDLE: bundle,
        TUNERANK_BASE_URL: service,
        TUNERANK_API_KEY: key,
        TUNERANK_ACCOUNT_ID: "acme",
      };
      const execArgv = ["--import", import.meta.resolve("tsx")];
      const worker = fork(fileURLToPath(new URL("worker.ts", import.meta.url)), {
        env,
        execArgv,
        cwd: folder,
      });
      workers.add(worker);
      await new Promise<void>((resolve, reject) => {
        worker.once("message", () => resolve());
        worker.once("exit", (status) => reject(new Error(`A worker ended with ${status}.`)));
      });
      return worker;
    },
    start: (taskQueue, workflow, ...args) =>
      client.workflow.start(workflow, { taskQueue, args, workflowId: `${taskQueue}-${started++}` }),
    async stop() {
      for (const worker of workers) worker.kill("SIGKILL");
      await connection.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A file in the folder that the workers run in. */
export const uploaded = "reviews.jsonl";

/** The key of every worker's client. */
export const key = "test-key-of-the-workers";

/** How a workflow failed: the failure of its activity, with what the package told of the call. */
export interface WorkflowFailure {
  readonly failure: ApplicationFailure | CancelledFailure;
  readonly call: CallFailure;
}

export async function failureOf(handle: WorkflowHandle): Promise<WorkflowFailure> {
  const error = await handle.result().then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof WorkflowFailedError)) throw error ?? new Error("The workflow did not fail.");
  const failure = error.cause instanceof ActivityFailure ? error.cause.cause : error.cause;
  if (!(failure instanceof ApplicationFailure || failure instanceof CancelledFailure)) throw failure;
  return { failure, call: failure.details?.[0] as CallFailure };
}

/** Resolves once the workflow's activity has come to this attempt: it waits for it, or runs. */
export async function attempts(handle: WorkflowHandle, number: number): Promise<void> {
  let reached = 0;
  while (reached < number) {
    const { raw } = await handle.describe();
    reached = raw.pendingActivities?.[0]?.attempt ?? 0;
  }
}

/** Writes chunks with ids that are all different, for the workers to read. @returns the ids */
export function writeChunks(
  { folder }: Pick<Engine, "folder">,
  list: string,
  chunks: number,
  size: number,
): string[] {
  mkdirSync(path.join(folder, list));
  return Array.from({ length: chunks }, (_, n) => {
    const requests = Array.from({ length: size }, (_, row): ChunkRequest => {
      const id = `${list}-${n}-${row}`;
      return { id, query: id, documents: ["a", "b"] };
    });
    writeFileSync(path.join(folder, list, `${n}.json`), JSON.stringify(requests));
    return requests.map(({ id }) => id);
  }).flat();
}

/** All rows that are written. */
export function readResults({ folder }: Pick<Engine, "folder">, list: string): ChunkResult[] {
  const parts = readdirSync(path.join(folder, list)).filter((name) => name.endsWith(".ranked.json"));
  return parts.flatMap((name) => JSON.parse(readFileSync(path.join(folder, list, name), "utf8")));
}
