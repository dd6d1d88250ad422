// What a client does wrong is seen in process, without the command.
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import type { Socket } from "node:net";
import { json } from "node:stream/consumers";
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
  readonly arguments: { readonly file?: File };
}

type File = Readonly<{ name: string; content?: string; base64?: string; bytes: number }>;

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
