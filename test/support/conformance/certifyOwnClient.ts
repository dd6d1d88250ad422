// Our own client under the runner: asks for rows, makes each call, posts what it saw.
import { spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import https from "node:https";
import path from "node:path";
import { json } from "node:stream/consumers";
import { HttpsProxyAgent } from "https-proxy-agent";
import { operations, requests } from "../../../src/generated/contract.js";
import {
  type CallOptions,
  type CallPromise,
  type Client,
  type ClientOptions,
  createClient,
  isStatusError,
  type OperationId,
} from "../../../src/index.js";
import type { RequestRules } from "../../../src/options/validate.js";
import { type ClientInside, insideOf } from "../../../src/wrappers/types.js";
import { root, temporaryFolder } from "../project.js";

/** A row as GET /next gives it. */
interface Task {
  readonly id: string;
  readonly operation: OperationId;
  readonly baseUrl: string;
  readonly proxy?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly caCertificate?: string;
  readonly apiKey?: string;
  readonly apiKeys?: readonly string[];
  readonly keyPerCall?: readonly string[];
  readonly parallel?: readonly Task["arguments"][];
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly options: {
    readonly maxRetries: number;
    readonly repeatable?: boolean;
    readonly timeoutMs?: number;
    readonly attemptTimeoutMs?: number;
    readonly connectTimeoutMs?: number;
    readonly abortAfterMs?: number;
  };
  readonly calls: number;
  readonly newClientPerCall?: boolean;
  readonly programs?: number;
  readonly needs: readonly string[];
}

/** What fetch functions do not hand on, or have no option for. */
export const hiddenByFetch: readonly string[] = [
  "proxy",
  "ca-certificate",
  "connect-timeout",
  "connections",
  "early-close",
  "proxy-credentials",
  "proxy-environment",
  "status-100",
  "status-101",
  "status-407",
  "status-421",
  "two-programs",
];

/** How many rows are under way at once. */
const workers = 24;

/** The options of a row's client, besides those that the row asks for. */
type OptionsOf = (row: Pick<Task, "proxy" | "environment" | "caCertificate" | "options">) => ClientOptions;

/**
 * Makes the calls of every row that the runner has.
 * @param optionsOf What each client sends with.
 * @param lacks What the client cannot do, by the names of `needs`.
 */
export async function certifyOwnClient(
  runner: string,
  optionsOf: OptionsOf = overNode,
  lacks: readonly string[] = [],
): Promise<void> {
  const work = async (): Promise<void> => {
    for (;;) {
      const task = (await (await fetch(`${runner}/next`)).json()) as Task | { done: true };
      if ("done" in task) return;
      const skipped = task.needs.find((need) => lacks.includes(need));
      const made = () => (task.programs ? inPrograms(task, task.programs) : outcomeOf(task, optionsOf(task)));
      const outcome = skipped === undefined ? await made() : { skipped };
      const body = JSON.stringify({ id: task.id, ...outcome });
      const response = await fetch(`${runner}/outcome`, { method: "POST", body });
      if (!response.ok) throw new Error(`${task.id}: ${await response.text()}`);
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
}

function overNode({
  proxy,
  environment,
  caCertificate: ca,
  options,
}: Parameters<OptionsOf>[0]): ClientOptions {
  const { connectTimeoutMs } = options;
  const connect = connectTimeoutMs ? { connectTimeoutMs } : {};
  // A program with an environment trusts the certificate by NODE_EXTRA_CA_CERTS.
  if (environment) return { ...connect, proxy: "env" };
  if (ca) {
    const agent = proxy ? new HttpsProxyAgent(proxy) : new https.Agent();
    Object.assign(agent.options, { ca });
    return { ...connect, agent };
  }
  return { ...connect, ...(proxy && { proxy, allowInsecureHttp: true }) };
}

// Makes the calls of a row in a new program, so many times; each sends over node:http.
async function inPrograms(task: Task, times: number): Promise<object> {
  const program = `import { printOutcome } from ${JSON.stringify(import.meta.url)}; await printOutcome();`;
  const node = ["--conditions=tunerank-source", "--import", "tsx", "--input-type=module", "--eval", program];
  const { folder, remove } = await temporaryFolder();
  const file = path.join(folder, "ca.pem");
  await writeFile(file, task.caCertificate ?? "");
  const env = {
    ...process.env,
    ...task.environment,
    ...(task.caCertificate && { NODE_EXTRA_CA_CERTS: file }),
  };
  let outcome: unknown;
  for (let made = 0; made < times; made++) {
    const { stdin, stdout } = spawn(process.execPath, node, {
      cwd: root,
      env,
      stdio: ["pipe", "pipe", "inherit"],
    });
    stdin.end(JSON.stringify(task));
    outcome = await json(stdout);
  }
  await remove();
  return outcome as object;
}

/** Makes the calls of the row that stands in the standard input, and prints the outcome. */
export async function printOutcome(): Promise<void> {
  const task = (await json(process.stdin)) as Task;
  console.log(JSON.stringify(await outcomeOf(task, overNode(task))));
}

async function outcomeOf(task: Task, options: ClientOptions): Promise<object> {
  const { calls, newClientPerCall, parallel, keyPerCall = [] } = task;
  const byKey = new Map(keyPerCall.map((apiKey) => [apiKey, clientOf({ ...task, apiKey }, options)]));
  const opened = [...byKey.values()];
  const open = (): Client => {
    const made = clientOf(task, options);
    opened.push(made);
    return made;
  };
  try {
    let client = byKey.get(keyPerCall[0] ?? "") ?? open();
    if (parallel) {
      const one = client;
      const values = await Promise.all(parallel.map((given) => call(one, { ...task, arguments: given })));
      return { values: values.map(posted), capabilities: ["unknown-members"] };
    }
    for (let made = 1; made < calls; made++) {
      await call(client, task).catch(() => {});
      if (newClientPerCall) {
        await client.close();
        client = open();
      }
      client = byKey.get(keyPerCall[made] ?? "") ?? client;
    }
    const { data, attempts } = await call(client, task).withResponse();
    return { value: posted(data), attempts: attempts.length, capabilities: ["unknown-members"] };
  } catch (error) {
    if (!isStatusError(error)) throw error;
    const { code, executed, executedBecause, message, inferred, codeSource, notRetried } = error;
    const facts = { code, executed, executedBecause, message, inferred, codeSource, notRetried };
    const text = `${error.stack} ${JSON.stringify(error)}`;
    return { ...facts, text, attempts: error.attempts.length, retryAfterMs: error.retryAfterMs ?? null };
  } finally {
    await Promise.all(opened.map((each) => each.close()));
  }
}

function clientOf(task: Task, options: ClientOptions): Client {
  const { baseUrl, apiKey, apiKeys, options: asked } = task;
  const { maxRetries, timeoutMs, attemptTimeoutMs } = asked;
  let times = 0;
  return createClient({
    baseUrl,
    accountId: `${task.arguments.account_id ?? "acme"}`,
    apiKey: apiKeys ? () => apiKeys[Math.min(times++, apiKeys.length - 1)] ?? "" : (apiKey ?? ""),
    maxRetries,
    ...(timeoutMs && { timeoutMs }),
    ...(attemptTimeoutMs && { attemptTimeoutMs }),
    ...options,
  });
}

// As JSON has it: bytes in Base64.
function posted(data: unknown): unknown {
  return data instanceof Uint8Array ? Buffer.from(data).toString("base64") : (data ?? {});
}

function call(client: Client, { operation, arguments: given, options }: Task): CallPromise<unknown> {
  const { repeatable, abortAfterMs } = options;
  const own: CallOptions = {
    ...(repeatable !== undefined && { idempotent: repeatable }),
    ...(abortAfterMs !== undefined && { signal: abortedIn(abortAfterMs) }),
  };
  const { body, file } = given as {
    body: { query: string; documents: string[]; replicaCount: number };
    file: { name: string; content: string; base64?: string; bytes: number };
  };
  const id = (name: string) => given[name] as string;
  switch (operation as string) {
    case "resumeReinforcementFineTuningJob":
      return client.reinforcementFineTuningJobs.resume(id("reinforcement_fine_tuning_job_id"), own);
    case "rerankDocuments":
      return client.rerank(body, own);
    case "scaleDeployment":
      return client.deployments.scale(id("deployment_id"), body.replicaCount, own);
    case "uploadDatasetFile": {
      const { base64, bytes } = file;
      const content = base64
        ? Buffer.alloc(bytes, Buffer.from(base64, "base64"))
        : new TextEncoder().encode(file.content);
      return client.datasets.upload(id("dataset_id"), content, { name: file.name, ...own });
    }
    default:
      return callUnwritten(client, operation, given, own);
  }
}

// One that nobody wrote a method for.
function callUnwritten(
  client: Client,
  operation: OperationId,
  { body, ...given }: Task["arguments"],
  options: CallOptions,
): CallPromise<unknown> {
  const { query, headers }: RequestRules = requests[operation];
  const named = { ...query?.properties, ...headers?.properties };
  const entries = Object.entries(given);
  const ids = entries.filter(([name]) => operations[operation].path.includes(`{${name}}`));
  const parameters = Object.fromEntries(entries.filter(([name]) => Object.hasOwn(named, name)));
  const { callOperation } = insideOf(client) as ClientInside;
  return callOperation({ operation, ids: Object.fromEntries(ids), body, parameters }, options);
}

function abortedIn(ms: number): AbortSignal {
  const controller = new AbortController();
  if (ms === 0) controller.abort();
  else setTimeout(() => controller.abort(), ms);
  return controller.signal;
}
