// What a client does wrong is seen in process, without the command.
import { once } from "node:events";
import { request } from "node:http";
import type { Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import type { Cell } from "../../src/conformance/cell.js";
import { Session } from "../../src/conformance/session.js";
import { everyCell } from "../support/conformance/mutants.js";

const opened: Session[] = [];
afterEach(async () => {
  for (const session of opened.splice(0)) await session.close("the test ended");
});

interface Task {
  readonly id: string;
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly apiKeys?: readonly string[];
  readonly proxy?: string;
  readonly parallel?: readonly object[];
}

async function begun(id: string): Promise<{ session: Session; task: Task }> {
  const cell = (await everyCell()).find((each) => each.id === id) as Cell;
  const session = new Session({ cells: [cell], machine: { busySince: () => false }, onRequest: () => {} });
  opened.push(session);
  return { session, task: (await session.next()) as Task };
}

/** Makes the call as it should be, but for what is given. */
async function send({ baseUrl, apiKey }: Task, { method = "PATCH", headers = {} } = {}): Promise<unknown> {
  const response = await fetch(`${baseUrl}/v1/accounts/acme/deployments/support-search:scale`, {
    method,
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json", ...headers },
    body: '{"replicaCount":2}',
  });
  return JSON.parse((await response.text()) || "{}");
}

const success = "retries/success-at-once/scaleDeployment";
const leak = "the posted outcome contains the key";
const base64 = (key: string): string => Buffer.from(`a:${key}`).toString("base64");

test.each<[what: string, said: string | undefined, call: (task: Task) => Promise<object>]>([
  ["does all as it should", undefined, async (task) => ({ value: await send(task) })],
  ["shows the key", leak, async (task) => ({ value: await send(task), text: `at ${task.apiKey}` })],
  ["shows the key in base64", leak, async (task) => ({ value: await send(task), text: base64(task.apiKey) })],
  [
    "sends twice",
    "requests: 2 instead of 1",
    async (task) => ({ value: [await send(task), await send(task)][1] }),
  ],
  [
    "sends another method",
    'request 1: method: "PUT" instead of "PATCH"',
    async (task) => ({ value: await send(task, { method: "PUT" }) }),
  ],
  [
    "sends the key in another header, too",
    "request 1: the header x-key carries the key",
    async (task) => ({ value: await send(task, { headers: { "x-key": task.apiKey } }) }),
  ],
])("a client that %s: %s", async (_what, said, call) => {
  const { session, task } = await begun(success);
  const told = await session.take(JSON.stringify({ id: task.id, attempts: 1, ...(await call(task)) }));
  expect(told).toMatchObject(
    said === undefined ? { result: "passed" } : { result: "failed", differences: [said] },
  );
});

test("a client that goes on with the rejected key: the second request has not the key that is due", async () => {
  const { session, task } = await begun("retries/success-after-fresh-key/scaleDeployment");
  const { apiKeys = [] } = task;
  const sent = { ...task, apiKey: apiKeys[0] ?? "" };
  await send(sent);
  const told = await session.take(JSON.stringify({ id: task.id, attempts: 2, value: await send(sent) }));
  expect(told.differences).toEqual(["request 2: Authorization is not the Bearer key that is due"]);
});

test("a client that gives the key to its proxy: the proxy got the key", async () => {
  const { session, task } = await begun("proxy/tunnel/scaleDeployment");
  const headers = { authorization: `Bearer ${task.apiKey}` };
  const asked = request(task.proxy ?? "", { method: "CONNECT", path: "service.invalid:443", headers }).end();
  const [, socket] = (await once(asked, "connect")) as [unknown, Socket];
  socket.destroy();
  const told = await session.take(
    JSON.stringify({ id: task.id, code: "UNKNOWN", executed: "no", attempts: 1 }),
  );
  expect(told.differences).toContain("the proxy got the key");
});

test("calls that are made at the same time have arguments of their own", async () => {
  const { task } = await begun("exchanges/calls-in-parallel/scaleDeployment");
  const asked = task.parallel?.map((each) => JSON.stringify(each)) ?? [];
  expect(asked.length).toBeGreaterThan(1);
  expect(new Set(asked).size).toBe(asked.length);
});

test("a row is skipped only for what it needs, and an error has its number of attempts", async () => {
  const { session, task } = await begun(success);
  const take = (outcome: object) => session.take(JSON.stringify({ id: task.id, ...outcome }));
  await expect(take({ skipped: "proxy" })).rejects.toThrow(/cannot be skipped/);
  await expect(take({ code: "UNKNOWN", executed: "unknown" })).rejects.toThrow("attempts is missing");
  const upload = await begun("retries/success-at-once/uploadDatasetFile");
  const skipped = await upload.session.take(JSON.stringify({ id: upload.task.id, skipped: "upload" }));
  expect(skipped).toMatchObject({ result: "skipped", skippedFor: "upload" });
});
