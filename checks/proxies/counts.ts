import { setTimeout } from "node:timers/promises";
import type { Contestant, OpenContestant, Operation, Said } from "./contestants.js";
import type { ProxyProgram, RunningProxy } from "./programs.js";
import { Service } from "./service.js";

/** What is counted, and how. */
export interface Setting {
  readonly proxy: ProxyProgram;
  readonly contestant: Contestant;
  /** For how long the proxy keeps an idle connection, in milliseconds. */
  readonly idleMs: number;
  readonly calls: number;
  readonly operations: readonly Operation[];
  /** Whether the proxy reads its configuration anew in the middle, five times. */
  readonly reloads: boolean;
}

/** What the service counted, and what the callers heard. */
export interface Counted {
  readonly proxy: string;
  readonly client: string;
  readonly idleMs: number;
  readonly reloads: boolean;
  readonly operations: string;
  readonly calls: number;
  /** Resumes and uploads that ran more than once. */
  readonly ranTwice: number;
  /** Calls that failed although a retry was safe: nothing had run, or the operation may be sent twice. */
  readonly lost: number;
  /** Calls that reached nobody while the proxy did not listen, when the client had spent its ten retries. */
  readonly overBudget: number;
  /** Resumes and uploads that failed when nobody could know whether they had run. */
  readonly unknown: number;
  /** Responses of another call, responses to what never ran, and failures that were said not to have run and had. */
  readonly wrong: number;
}

// Calls are made all at once, and then again when their connections are about to be closed.
const atOnce = 200;

/** Makes the calls through the proxy, and counts at the service. */
export async function count(setting: Setting): Promise<Counted> {
  const service = await new Service().start();
  const running = await setting.proxy.start(service.port, setting.idleMs);
  const client = setting.contestant.open({ ...running, way: setting.proxy.way, servicePort: service.port });
  try {
    const results = await makeCalls(setting, running, client);
    const { proxy, contestant, idleMs, reloads, operations } = setting;
    const tally = results.map((result) => judge(result, service.ran.get(result.name) ?? 0));
    const sum = (verdict: Verdict): number => tally.filter((each) => each === verdict).length;
    return {
      proxy: proxy.name,
      client: contestant.name,
      idleMs,
      reloads,
      operations: operations.join(", "),
      calls: results.length,
      ranTwice: sum("ranTwice"),
      lost: sum("lost"),
      overBudget: sum("overBudget"),
      unknown: sum("unknown"),
      wrong: sum("wrong"),
    };
  } finally {
    await client.close();
    await running.program.stop();
    await service.stop();
  }
}

interface Result {
  readonly operation: Operation;
  readonly name: string;
  /** The name its response carried; undefined when it failed. */
  readonly responded: string | undefined;
  readonly said: Said;
}

async function makeCalls(
  { idleMs, calls, operations, reloads }: Setting,
  { program }: RunningProxy,
  client: OpenContestant,
): Promise<Result[]> {
  const results: Result[] = [];
  const rounds = Math.ceil(calls / atOnce);
  const reloadEvery = Math.max(1, Math.floor(rounds / 6));
  for (let round = 0; round < rounds; round++) {
    if (reloads && round > 0 && round % reloadEvery === 0) program.reload();
    const made = Array.from({ length: Math.min(atOnce, calls - results.length) }, (_, i) =>
      makeCall(client, operations[i % operations.length] as Operation, `call-${round}-${i}`),
    );
    results.push(...(await Promise.all(made)));
    // Before, at and after the moment when the proxy closes them.
    await setTimeout(idleMs - 30 + (round % 10) * 5);
  }
  return results;
}

async function makeCall(client: OpenContestant, operation: Operation, name: string): Promise<Result> {
  try {
    return { operation, name, responded: await client.call(operation, name), said: undefined };
  } catch (error) {
    return { operation, name, responded: undefined, said: client.said(error) };
  }
}

type Verdict = "right" | "ranTwice" | "lost" | "overBudget" | "unknown" | "wrong";

function judge({ operation, name, responded, said }: Result, ran: number): Verdict {
  const safeTwice = operation === "rerank" || operation === "scale";
  if (ran > 1 && !safeTwice) return "ranTwice";
  if (responded !== undefined) return responded === name && ran > 0 ? "right" : "wrong";
  if (said !== undefined && ran > 0) return "wrong";
  if (said !== undefined) return said === "overBudget" ? "overBudget" : "lost";
  return safeTwice ? "lost" : "unknown";
}
