// One call of each operation in turn: what is asked, and what a right response to it is.
import { createHash } from "node:crypto";
import type { CallOptions, CallPromise, CallResponse, Client } from "../../src/index.js";

export interface Task {
  readonly operation: string;
  /** What the service must have understood. */
  readonly payload: string;
  call(client: Client, options: CallOptions): CallPromise<unknown>;
  isRight(response: CallResponse<unknown>): boolean;
}

/** The number of the call is in what it asks, so that no other response fits. */
export function taskOf(call: number): Task {
  return (kinds[call % kinds.length] as (call: number) => Task)(call);
}

const kinds = [rerank, resume, scale, upload] as const;

function rerank(call: number): Task {
  const documents = ["a", "b", "c", "d"].map((name) => `${name} of call ${call}: ${"text ".repeat(12)}`);
  return task<Awaited<ReturnType<Client["rerank"]>>>({
    operation: "rerank",
    payload: digest(JSON.stringify(documents)),
    call: (client, options) => client.rerank({ query: `call ${call}`, documents }, options),
    isRight: ({ data }) =>
      data.length === documents.length && data.every(({ index, document }) => documents[index] === document),
  });
}

function resume(call: number): Task {
  return task<{ name?: string }>({
    operation: "resume",
    payload: "{}",
    call: ({ reinforcementFineTuningJobs: jobs }, options) => jobs.resume(`call-${call}`, options),
    isRight: (job) => job.name === `accounts/soak/reinforcementFineTuningJobs/call-${call}`,
  });
}

function scale(call: number): Task {
  const replicaCount = call % 1000;
  return task<void>({
    operation: "scale",
    payload: String(replicaCount),
    call: ({ deployments }, options) => deployments.scale(`call-${call}`, replicaCount, options),
    isRight: (nothing) => nothing === undefined,
  });
}

function upload(call: number): Task {
  const bytes = new TextEncoder().encode(`{"call":${call}}\n`.repeat(10 + (call % 100)));
  const name = `call-${call}.jsonl`;
  return task<{ bytes: number; filename: string }>({
    operation: "upload",
    payload: `${name} ${digest(bytes)}`,
    call: ({ datasets }, options) => datasets.upload(`call-${call}`, bytes, { name, ...options }),
    isRight: (stored) => stored.bytes === bytes.byteLength && stored.filename === name,
  });
}

interface TypedTask<T> extends Omit<Task, "isRight"> {
  isRight(data: T): boolean;
}

function task<T>({ isRight, ...rest }: TypedTask<T>): Task {
  return { ...rest, isRight: ({ data }) => isRight(data as T) };
}

export function digest(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}
