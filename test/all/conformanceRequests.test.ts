// What the runner looks at in a request: every byte of a file, its name in all spellings, one key, and connections.
import { once } from "node:events";
import http from "node:http";
import { afterEach, expect, test } from "vitest";
import { next, post, type Runner, startRunner } from "../support/conformance/runner.js";

const running: Runner[] = [];
afterEach(async () => {
  for (const { child, outcome } of running.splice(0)) {
    child.kill("SIGKILL");
    await outcome;
  }
});

interface Upload {
  readonly name?: string;
  readonly disposition?: string;
  readonly content?: Buffer;
  readonly rest?: string;
  readonly headers?: readonly string[];
}

const good = { id: "file-7d1f9a", object: "file", created_at: 1772442900, purpose: "fine-tune" };

/** Sends a form as it is told, and gives what the runner finds wrong with it. */
async function differencesOf(row: string, upload: Upload): Promise<unknown> {
  const runner = await startRunner("--only", `exchanges/${row}/uploadDatasetFile`);
  running.push(runner);
  const task = await next(runner.url);
  const { file } = task.arguments as {
    file: { name: string; content?: string; base64?: string; bytes: number };
  };
  const due = file.base64
    ? Buffer.alloc(file.bytes, Buffer.from(file.base64, "base64"))
    : Buffer.from(file.content ?? "");
  const { name = file.name, content = due, rest = "", headers = [] } = upload;
  const { disposition = `filename="${name}"` } = upload;
  const head = `--b\r\nContent-Disposition: form-data; name="file"; ${disposition}\r\n\r\n`;
  const body = Buffer.concat([Buffer.from(head), content, Buffer.from(`\r\n${rest}--b--\r\n`)]);
  const request = http.request(`${task.baseUrl}/v1/accounts/acme/datasets/support-answers:upload`, {
    method: "POST",
    headers: [
      "Host",
      "127.0.0.1",
      "Authorization",
      `Bearer ${task.apiKey}`,
      "Content-Type",
      "multipart/form-data; boundary=b",
    ]
      .concat(headers.map((text) => text.replace("{key}", `${task.apiKey}`)))
      .concat(["Content-Length", `${body.length}`]),
  });
  const [response] = (await once(request.end(body), "response")) as [http.IncomingMessage];
  response.resume();
  const value = { ...good, bytes: due.length, filename: file.name };
  const [, { differences }] = await post(runner.url, { id: task.id, value, attempts: 1 });
  return differences;
}

test.each<[string, string, Upload]>([
  ["a quote as %22", "file-name-with-quotes", { disposition: `filename="say %22yes%22 or 'no'.jsonl"` }],
  [
    "a quote behind a backslash",
    "file-name-with-quotes",
    { disposition: `filename="say \\"yes\\" or 'no'.jsonl"` },
  ],
  [
    "filename*",
    "file-name-not-ascii",
    {
      disposition: `filename*=UTF-8''${encodeURIComponent("données-данные-データ-😀.jsonl")}`,
    },
  ],
  ["raw UTF-8", "file-name-not-ascii", {}],
  ["what ends a parameter elsewhere", "file-name-with-semicolons", {}],
])("a file's name is read with %s", async (_what, row, upload) => {
  expect(await differencesOf(row, upload)).toEqual([]);
});

test.each<[string, string, Upload, string]>([
  [
    "another name",
    "file-name-not-ascii",
    { name: "donn?es.jsonl" },
    "the form names the file donn?es.jsonl instead of données-данные-データ-😀.jsonl",
  ],
  [
    "another byte",
    "file-of-one-byte",
    { content: Buffer.from([1]) },
    "the form does not hold the file's content",
  ],
  [
    "a byte too few",
    "file-of-64-kib-and-one",
    { content: Buffer.alloc(65_536) },
    "the form does not hold the file's content",
  ],
  [
    "a second part",
    "file-of-one-byte",
    { rest: '--b\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nx\r\n' },
    "the form has 2 parts instead of one",
  ],
  [
    "the key in another header",
    "file-of-no-bytes",
    { headers: ["X-Api-Key", "{key}"] },
    "the header x-api-key carries the key",
  ],
  [
    "two headers Authorization",
    "file-of-no-bytes",
    { headers: ["Host", "127.0.0.1", "Authorization", "Bearer {key}"] },
    "there are 2 headers Authorization instead of one",
  ],
])("%s is told", async (_what, row, upload, problem) => {
  expect(await differencesOf(row, upload)).toEqual([`request 1: ${problem}`]);
});
