import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import type { Cell } from "../../src/conformance/cell.js";
import { Session, type Told } from "../../src/conformance/session.js";
import { everyCell } from "../support/conformance/mutants.js";

const tooEarly = /^wait 1: \d+ ms, and at least 700 are due$/;

const opened: Session[] = [];
afterEach(async () => {
  for (const session of opened.splice(0)) await session.close("the test ended");
});

const timed = "retries/success-after-retry-after-ms/rerankDocuments";
const other = "retries/success-at-once/rerankDocuments";
const aborted = "retries/abort-waiting/rerankDocuments";

/** A session with the rows of these ids, on a machine that is busy or not. */
async function sessionOf(isBusy: () => boolean, ...ids: readonly string[]): Promise<Session> {
  const cells = await everyCell();
  const chosen = ids.map((id) => cells.find((cell) => cell.id === id) as Cell);
  const session = new Session({ cells: chosen, machine: { busySince: isBusy }, onRequest: () => {} });
  opened.push(session);
  return session;
}

interface Task {
  readonly id: string;
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly arguments: { readonly body: object };
}

const next = async (session: Session): Promise<Task> => (await session.next()) as Task;

async function send({ baseUrl, apiKey, arguments: { body } }: Task): Promise<unknown> {
  const response = await fetch(`${baseUrl}/inference/v1/rerank`, {
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return JSON.parse((await response.text()) || "{}");
}

/** Makes the call of the timed row, with so many milliseconds before the retry, which are 700 where they are right. */
async function retryAfter(session: Session, task: Task, ms: number): Promise<Told> {
  await send(task);
  await pause(ms);
  const value = await send(task);
  return await session.take(JSON.stringify({ id: task.id, value, attempts: 2 }));
}

test("on a machine that is not busy, a row that fails by time has failed", async () => {
  const session = await sessionOf(() => false, timed);
  const told = await retryAfter(session, await next(session), 50);
  expect(told).toMatchObject({ result: "failed", differences: [expect.stringMatching(tooEarly)] });
  expect(session.over).toBe(true);
});

test("on a busy machine it is served again, once no other row is in progress, and passes", async () => {
  const session = await sessionOf(() => true, timed, other);
  const [task, beside] = [await next(session), await next(session)];
  expect(await retryAfter(session, task, 50)).toMatchObject({ result: "postponed" });
  expect(await session.next()).toBe(undefined);
  expect(session.over).toBe(false);
  await expect(session.take(JSON.stringify({ id: timed, value: {} }))).rejects.toThrow(
    `${timed} is not under way: GET /next gives rows, and each takes one outcome.`,
  );
  await session.take(JSON.stringify({ id: beside.id, value: await send(beside), attempts: 1 }));
  const again = await next(session);
  expect(again).toMatchObject({ id: timed });
  expect(again.apiKey).not.toBe(task.apiKey);
  expect(await retryAfter(session, again, 720)).toMatchObject({ result: "passed" });
  expect(session.over).toBe(true);
  expect(session.results).toMatchObject([
    { id: other, result: "passed" },
    { id: timed, result: "passed", whileBusy: [[expect.stringMatching(tooEarly)]] },
  ]);
});

test("a client that is too early each time fails, after three more times", async () => {
  const session = await sessionOf(() => true, timed);
  const told: string[] = [];
  for (let task = await next(session); task; task = await next(session))
    told.push((await retryAfter(session, task, 50)).result);
  expect(told).toEqual(["postponed", "postponed", "postponed", "failed"]);
  expect(session.results).toMatchObject([{ id: timed, result: "failed" }]);
  expect(session.results[0]?.whileBusy).toHaveLength(3);
});

test("once the machine is not busy any more, the next time decides", async () => {
  let isBusy = true;
  const session = await sessionOf(() => isBusy, timed);
  await retryAfter(session, await next(session), 50);
  isBusy = false;
  expect(await retryAfter(session, await next(session), 50)).toMatchObject({ result: "failed" });
  expect(await session.next()).toBe(undefined);
});

test("what a busy machine cannot cause is never served again", async () => {
  const session = await sessionOf(() => true, timed, other);
  const [task, beside] = [await next(session), await next(session)];
  await send(task);
  const value = await send({ ...task, apiKey: "wrong" });
  const told = await session.take(JSON.stringify({ id: timed, value, attempts: 2 }));
  const wrongKey = "request 2: Authorization is not the Bearer key that is due";
  expect(told).toMatchObject({ result: "failed", differences: expect.arrayContaining([wrongKey]) });
  const never = await session.take(JSON.stringify({ id: beside.id, value: {}, attempts: 1 }));
  expect(never).toMatchObject({ result: "failed" });
  expect(await session.next()).toBe(undefined);
});

test("the request of a call that was aborted may come too late on a busy machine", async () => {
  const session = await sessionOf(() => true, aborted);
  const { id } = await next(session);
  const outcome = { id, code: "CANCELLED", executed: "no", attempts: 0, notRetried: "aborted" };
  expect(await session.take(JSON.stringify(outcome))).toMatchObject({
    result: "postponed",
    differences: expect.arrayContaining(["requests: 0 instead of 1"]),
  });
});

test("a run that ends before a row is served again counts it as failed, with what differed", async () => {
  const session = await sessionOf(() => true, timed);
  await retryAfter(session, await next(session), 50);
  await session.close("no outcome was posted");
  expect(session.results).toMatchObject([
    { id: timed, result: "failed", differences: [expect.stringMatching(tooEarly)] },
  ]);
});

test("a row closes no idle connection by itself, however late the next request comes", async () => {
  const session = await sessionOf(() => false, other);
  const { baseUrl } = await next(session);
  const response = await fetch(baseUrl);
  // Node announces the time after which it closes an idle connection.
  expect(response.headers.get("keep-alive")).toBe(null);
});

test("a client that leaves every connection open is waited for once, so that its row ends", async () => {
  const session = await sessionOf(() => false, "retries/budget/rerankDocuments");
  const { id, baseUrl } = await next(session);
  const { port, host } = new URL(baseUrl);
  const sockets: Socket[] = [];
  for (let made = 0; made < 8; made++) {
    const socket = connect(Number(port), "127.0.0.1");
    sockets.push(socket);
    socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    await once(socket, "data");
  }
  const { differences } = await session.take(JSON.stringify({ id, value: {}, attempts: 8 }));
  const told = "request 4: 4 connections are open, for calls one after another";
  expect(differences.filter((text) => text.includes("connections are open"))).toEqual([told]);
  for (const socket of sockets) socket.destroy();
});
