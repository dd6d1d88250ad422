// What a client does wrong is seen in process, without the command; what a busy machine does is not held against it.
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { connect, type Socket } from "node:net";
import { json } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import type { Cell } from "../../src/conformance/cell.js";
import { Session, type Told } from "../../src/conformance/session.js";
import { everyCell } from "../support/conformance/mutants.js";

const opened: Session[] = [];
afterEach(async () => {
  for (const session of opened.splice(0)) await session.close("the test ended");
});

/** A session with the rows of these ids, on a machine that is busy or not. */
async function sessionOf(isBusy: () => boolean, ...ids: readonly string[]): Promise<Session> {
  const all = await everyCell();
  const cells = ids.map((id) => all.find((cell) => cell.id === id) as Cell);
  const session = new Session({ cells, machine: { busySince: isBusy }, onRequest: () => {} });
  opened.push(session);
  return session;
}

interface Task {
  readonly id: string;
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly apiKeys?: readonly string[];
  readonly proxy?: string;
  readonly parallel?: readonly object[];
  readonly arguments: { readonly body?: object; readonly file?: File };
}

type File = Readonly<{ name: string; content?: string; base64?: string; bytes: number }>;

const next = async (session: Session): Promise<Task> => (await session.next()) as Task;

async function begun(id: string): Promise<{ session: Session; task: Task }> {
  const session = await sessionOf(() => false, id);
  return { session, task: await next(session) };
}

/** Makes the call as it should be, but for what is given. */
async function send(task: Task, { method = "POST", headers = {} } = {}): Promise<unknown> {
  const response = await fetch(`${task.baseUrl}/inference/v1/rerank`, {
    method,
    headers: { authorization: `Bearer ${task.apiKey}`, "content-type": "application/json", ...headers },
    body: JSON.stringify(task.arguments.body),
  });
  return JSON.parse((await response.text()) || "{}");
}

const success = "retries/success-at-once/rerankDocuments";
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
    'request 1: method: "PUT" instead of "POST"',
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
  const { session, task } = await begun("retries/success-after-fresh-key/rerankDocuments");
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

interface Upload {
  readonly name?: string;
  readonly disposition?: string;
  readonly content?: Buffer;
  readonly rest?: string;
  readonly header?: readonly [name: string, value: string];
}

const accented = "100%25 % donne\u0301es-данные-データ-😀.jsonl";
const otherBytes = "request 1: the form does not hold the file's content";

// Every byte of a file, its name in all spellings, and one key.
test.each<[what: string, row: string, upload: Upload, said?: string]>([
  ["a quote as %22", "file-name-with-quotes", { disposition: `filename="say %22yes%22 or 'no'.jsonl"` }],
  [
    "a quote behind a backslash",
    "file-name-with-quotes",
    { disposition: `filename="say \\"yes\\" or 'no'.jsonl"` },
  ],
  [
    "a name in filename*",
    "file-name-not-ascii",
    { disposition: `filename*=UTF-8''${encodeURIComponent(accented)}` },
  ],
  ["a name in raw UTF-8", "file-name-not-ascii", {}],
  ["a name with what ends a parameter elsewhere", "file-name-with-semicolons", {}],
  [
    "another name",
    "file-name-not-ascii",
    { name: "donn?es.jsonl" },
    `request 1: file name: "donn?es.jsonl" instead of "${accented}"`,
  ],
  ["another byte", "file-of-one-byte", { content: Buffer.from([1]) }, otherBytes],
  ["a byte too few", "file-of-64-kib-and-one", { content: Buffer.alloc(65_536) }, otherBytes],
  [
    "a second part",
    "file-of-one-byte",
    { rest: '--b\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nx\r\n' },
    'request 1: parts of the form: ["file","purpose"] instead of ["file"]',
  ],
  [
    "the key in another header",
    "file-of-no-bytes",
    { header: ["X-Api-Key", "{key}"] },
    "request 1: the header x-api-key carries the key",
  ],
  [
    "two headers Authorization",
    "file-of-no-bytes",
    { header: ["Authorization", "Bearer {key}"] },
    "request 1: there are 2 headers Authorization instead of one",
  ],
])("an upload with %s", async (_what, row, upload, said) => {
  const { session, task } = await begun(`exchanges/${row}/uploadDatasetFile`);
  const { baseUrl, apiKey } = task;
  const file = task.arguments.file as File;
  const due = file.base64
    ? Buffer.alloc(file.bytes, Buffer.from(file.base64, "base64"))
    : Buffer.from(file.content ?? "");
  const { name = file.name, content = due, rest = "", header = [] } = upload;
  const { disposition = `filename="${name}"` } = upload;
  const head = `--b\r\nContent-Disposition: form-data; name="file"; ${disposition}\r\n\r\n`;
  const body = Buffer.concat([Buffer.from(head), content, Buffer.from(`\r\n${rest}--b--\r\n`)]);
  const headers = [
    ...["Host", new URL(baseUrl).host, "Authorization", `Bearer ${apiKey}`],
    ...["Content-Type", "multipart/form-data; boundary=b", "Content-Length", `${body.length}`],
    ...header.map((text) => text.replace("{key}", apiKey)),
  ];
  const sent = request(`${baseUrl}/v1/accounts/acme/datasets/support-answers:upload`, {
    method: "POST",
    headers,
  });
  const [response] = (await once(sent.end(body), "response")) as [IncomingMessage];
  const told = await session.take(JSON.stringify({ id: task.id, value: await json(response), attempts: 1 }));
  expect(told.differences).toEqual(said === undefined ? [] : [said]);
});

const tooEarly = /^wait 1: \d+ ms, and at least 700 are due$/;
const timed = "retries/success-after-retry-after-ms/rerankDocuments";

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
  const session = await sessionOf(() => true, timed, success);
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
    { id: success, result: "passed" },
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
  const session = await sessionOf(() => true, timed, success);
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
  const session = await sessionOf(() => true, "retries/abort-waiting/rerankDocuments");
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
  const session = await sessionOf(() => false, success);
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
