// One call of each operation in turn: what it asks, what a right response is, and what must hold of its requests.
import { createHash } from "node:crypto";
import type { Attempt, CallOptions, CallPromise, Client, Executed, StatusCode } from "../../src/index.js";

/** One request, as the service saw it. */
export interface LogEntry {
  readonly call: number;
  readonly payload: string;
  /** Whether the operation was done. */
  readonly ran: boolean;
  readonly faulty: boolean;
}

/** One call, as its caller saw it. */
export interface CallRecord {
  readonly call: number;
  readonly task: Task;
  /** Absent while the call has not settled. */
  outcome?: "right" | "wrong" | "failed";
  /** Both of a call that failed. */
  code?: StatusCode;
  executed?: Executed;
  attempts?: readonly Attempt[];
}

export interface Task {
  readonly operation: "rerank" | "resume" | "scale" | "upload";
  /** What the service must have understood. */
  readonly payload: string;
  call(client: Client, options: CallOptions): CallPromise<unknown>;
  isRight(data: never): boolean;
}

export function digest(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

/** The number of the call is in what it asks, so that no other response fits. */
export function taskOf(call: number): Task {
  const id = `call-${call}`;
  const replicaCount = call % 1000;
  const documents = ["a", "b", "c", "d"].map((name) => `${name} of call ${call}: ${"text ".repeat(12)}`);
  const bytes = new TextEncoder().encode(`{"call":${call}}\n`.repeat(10 + (call % 100)));
  const name = `${id}.jsonl`;
  const tasks: readonly Task[] = [
    {
      operation: "rerank",
      payload: digest(JSON.stringify(documents)),
      call: (client, options) => client.rerank({ query: `call ${call}`, documents }, options),
      isRight: ({ data }: Awaited<ReturnType<Client["rerank"]>>) =>
        data.length === documents.length &&
        data.every(({ index, document }) => documents[index] === document),
    },
    {
      operation: "resume",
      payload: "{}",
      call: (client, options) => client.reinforcementFineTuningJobs.resume(id, options),
      isRight: (job: { name?: string }) => job.name === `accounts/soak/reinforcementFineTuningJobs/${id}`,
    },
    {
      operation: "scale",
      payload: String(replicaCount),
      call: (client, options) => client.deployments.scale(id, replicaCount, options),
      isRight: (nothing: unknown) => nothing === undefined,
    },
    {
      operation: "upload",
      payload: `${name} ${digest(bytes)}`,
      call: (client, options) => client.datasets.upload(id, bytes, { name, ...options }),
      isRight: (stored: { bytes: number; filename: string }) =>
        stored.bytes === bytes.byteLength && stored.filename === name,
    },
  ];
  return tasks[call % tasks.length] as Task;
}

/** One line for each thing in which calls and requests do not agree; empty when nothing was lost. */
export function problemsOf(records: readonly CallRecord[], log: readonly LogEntry[]): string[] {
  const known = new Set(records.map(({ call }) => call));
  const late = log.filter(({ call }) => !known.has(call));
  return [
    ...late.map(({ call }) => `call ${call}: the service saw a request of it after it had settled`),
    ...records.flatMap((record) => {
      const found = problemOf(
        record,
        log.filter(({ call }) => call === record.call),
      );
      return found === undefined ? [] : [`call ${record.call} (${record.task.operation}): ${found}`];
    }),
  ];
}

function problemOf(record: CallRecord, entries: readonly LogEntry[]): string | undefined {
  const { task, outcome, executed, attempts = [] } = record;
  if (outcome === undefined) return "lost: it never settled";
  if (outcome === "wrong") return "its response was to something else";
  const ran = entries.filter((entry) => entry.ran).length;
  const responded = attempts.filter(({ httpStatus }) => httpStatus !== undefined).length;
  if (entries.some(({ payload }) => payload !== task.payload)) return "the service read something else";
  if (entries.length > attempts.length || entries.length < responded)
    return `${attempts.length} attempts, ${entries.length} requests at the service`;
  if (outcome === "right" && ran === 0) return "a success, but the service did nothing";
  if (executed === "no" && ran > 0) return `executed is "no", but the service did it`;
  if (executed === "yes" && ran === 0) return `executed is "yes", but the service did nothing`;
  if ((task.operation === "resume" || task.operation === "upload") && ran > 1) return `done ${ran} times`;
  return undefined;
}
