import { describe, expect, test } from "vitest";
import type { Client, ClientOptions, StatusError } from "../../src/index.js";
import { connect, failureOf, thrownBy, transports } from "../support/clients.js";
import { type Reply, useRecordingServer } from "../support/recordingServer.js";
import { textOf, withHint } from "../support/withHint.js";

const server = useRecordingServer();

const nginx =
  "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n" +
  "<hr><center>nginx/1.25.3</center>\r\n</body>\r\n</html>\r\n";
const cloudflare =
  '<!DOCTYPE html>\n<html lang="en-US">\n<head>\n<title>api.example.com | 522: Connection timed out</title>\n' +
  "</head><body>Ray ID: 8f2b</body></html>";

const html = { "content-type": "text/html" };
const plain = { "content-type": "text/plain" };

const cases: readonly (readonly [what: string, reply: Reply, code: string, message: string])[] = [
  [
    "Envoy's plain text",
    { status: 503, text: "upstream connect error or disconnect/reset before headers", headers: plain },
    "UNAVAILABLE",
    "[UNAVAILABLE] upstream connect error or disconnect/reset before headers",
  ],
  [
    "nginx's page",
    { status: 502, text: nginx, headers: html },
    "UNAVAILABLE",
    "[UNAVAILABLE] 502 Bad Gateway",
  ],
  [
    "Cloudflare's page",
    { status: 522, text: cloudflare, headers: html },
    "UNAVAILABLE",
    "[UNAVAILABLE] api.example.com | 522: Connection timed out",
  ],
  [
    "JSON that is cut off",
    { status: 404, text: '{"code":"ABORTED","message":"No su' },
    "NOT_FOUND",
    '[NOT_FOUND] {"code":"ABORTED","message":"No su',
  ],
];

const aborted = '{"code":"ABORTED","message":"m"}';
const problem = { "content-type": "application/problem+json" };
const codes: readonly (readonly [what: string, reply: Reply])[] = [
  ["as text/html", { text: aborted, headers: html }],
  ["as text/plain", { text: aborted, headers: plain }],
  ["behind a byte order mark", { text: `\uFEFF${aborted}` }],
  ["within white space", { text: `\r\n\t ${aborted}\n` }],
  ["as problem+json", { text: '{"code":"ABORTED","detail":"m"}', headers: problem }],
];

describe.each(transports)("over $name", ({ options }) => {
  async function failure(reply: Reply): Promise<StatusError> {
    server.reply(reply);
    return await failureOf(() => connect(server.url, options).deployments.scale("prod", 1));
  }

  test.each(cases)(
    "%s is understood by its status, and its text kept",
    async (_what, reply, code, message) => {
      const error = await failure(reply);
      expect(error).toMatchObject({ code, codeSource: "status", httpStatus: reply.status });
      expect(error.message).toBe(withHint(message, error));
      expect(error.body).toBe((reply.text as string).trim());
    },
  );

  test.each(codes)("a code in JSON %s is read", async (_what, reply) => {
    const error = await failure({ status: 409, ...reply });
    expect(error).toMatchObject({ code: "ABORTED", codeSource: "body", inferred: false });
    expect(error.message).toBe(withHint("[ABORTED] m", error));
  });

  test.each(["", " \r\n", "\uFEFF"])(
    "an empty body (%j) leaves the status, and the code's hint",
    async (text) => {
      const error = await failure({ status: 404, text });
      expect(error).toMatchObject({ code: "NOT_FOUND", codeSource: "status", inferred: false });
      expect(error.message).toBe(withHint("[NOT_FOUND] HTTP 404 without a message.", error));
      expect(error.body).toBeUndefined();
    },
  );

  test("Latin-1 text does not hide the code", async () => {
    const text = Buffer.from('{"code":"ABORTED","message":"d\u00e9j\u00e0 vu"}', "latin1");
    const error = await failure({ status: 409, text });
    expect(error).toMatchObject({ code: "ABORTED", codeSource: "body" });
    expect(textOf(error)).toMatch(/^\[ABORTED\] d.j. vu\.$/);
  });

  test.each([
    '{"__proto__":{"code":"ABORTED","message":"evil"}}',
    '{"error":{"__proto__":{"status":"ABORTED","message":"evil"}}}',
    '{"constructor":{"prototype":{"code":"ABORTED"}}}',
  ])("inherited names are not read: %s", async (text) => {
    const error = await failure({ status: 404, text });
    expect(error).toMatchObject({ code: "NOT_FOUND", codeSource: "status" });
    expect(error.message).not.toContain("evil");
    expect(({} as { code?: string }).code).toBeUndefined();
  });

  test("what others added to Object.prototype is not read as the body's", async () => {
    try {
      for (const [name, value] of [
        ["code", "ABORTED"],
        ["detail", "evil"],
      ]) {
        Object.defineProperty(Object.prototype, name as string, {
          value,
          configurable: true,
          writable: true,
        });
      }
      const error = await failure({ status: 404, json: { request: 1 } });
      expect(error).toMatchObject({ code: "NOT_FOUND", codeSource: "status" });
      expect(error.message).not.toContain("evil");
    } finally {
      for (const name of ["code", "detail"]) Reflect.deleteProperty(Object.prototype, name);
    }
  });

  test("a body beyond 4 KiB is kept in part, and its code still read", async () => {
    const error = await failure({
      status: 409,
      json: { code: "ABORTED", message: "m".repeat(10_000), details: "d".repeat(10_000) },
    });
    expect(error).toMatchObject({ code: "ABORTED", codeSource: "body" });
    expect(error.body).toBeTypeOf("string");
    expect((error.body as string).length).toBeLessThanOrEqual(4096);
    expect(textOf(error).length).toBeLessThanOrEqual(4096 + "[ABORTED] .".length);
  });

  test("a body beyond 64 KiB is read no further, and the status decides", async () => {
    const error = await failure({
      status: 409,
      json: { details: "d".repeat(70_000), code: "ALREADY_EXISTS" },
    });
    expect(error).toMatchObject({ code: "ABORTED", codeSource: "status", inferred: true });
    expect((error.body as string).length).toBeLessThanOrEqual(4096);
  });

  test("a deeply nested body does no harm", async () => {
    const error = await failure({ status: 404, text: `${"[".repeat(30_000)}${"]".repeat(30_000)}` });
    expect(error).toMatchObject({ code: "NOT_FOUND", httpStatus: 404 });
  });
});

const address = "https://api.example.com";
const bytes = new Uint8Array([1]);

const options: readonly (readonly [options: Record<string, unknown>, message: string])[] = [
  [{ headers: "x-a: 1" }, "[INVALID_ARGUMENT] headers must be an object."],
  [{ headers: { "x y": "1" } }, "[INVALID_ARGUMENT] headers has a name that HTTP does not allow."],
  [{ headers: { "X-A": "é" } }, '[INVALID_ARGUMENT] headers["x-a"] must be printable ASCII text.'],
  [{ headers: { Host: "h" } }, "[INVALID_ARGUMENT] headers may not set host: the client sets it."],
  [{ apiKey: "" }, "[INVALID_ARGUMENT] apiKey must be a string that is not empty."],
  [{ onAttempt: "log" }, "[INVALID_ARGUMENT] onAttempt must be a function."],
  [{ timeoutMs: "5" }, "[INVALID_ARGUMENT] timeoutMs must be a number of milliseconds."],
  [{ timeoutMs: -0.5 }, "[OUT_OF_RANGE] timeoutMs must be greater than 0, not -0.5."],
  [{ timeoutMs: 0 }, "[OUT_OF_RANGE] timeoutMs must be greater than 0, not 0."],
  [{ connectTimeoutMs: Number.NaN }, "[INVALID_ARGUMENT] connectTimeoutMs must be a number of milliseconds."],
  [{ maxRetries: 0.5 }, "[INVALID_ARGUMENT] maxRetries must be a whole number, not 0.5."],
  [{ maxRetries: -1 }, "[OUT_OF_RANGE] maxRetries must be at least 0, not -1."],
  [{ maxRetries: 2n }, "[INVALID_ARGUMENT] maxRetries must be a whole number."],
];

test.each(options)("createClient refuses %o and says why", (given, message) => {
  expect(textOf(thrownBy(() => connect(address, given as ClientOptions)))).toBe(message);
});

test("plain http to another machine is refused with the reason", () => {
  expect(textOf(thrownBy(() => connect("http://api.example.com")))).toBe(
    "[INVALID_ARGUMENT] baseUrl is plain http to another machine: the key would go unencrypted.",
  );
});

const calls: readonly (readonly [
  what: string,
  call: (client: Client) => PromiseLike<unknown>,
  message: string,
])[] = [
  [
    "a full name that ends with a slash",
    (client) => client.deployments.scale("accounts/acme/", 1),
    'deploymentId contains "/": pass the id alone, not a full resource name.',
  ],
  [
    "a full name",
    (client) => client.deployments.scale("accounts/acme/deployments/prod", 1),
    'deploymentId contains "/": pass the id alone ("prod"), not a full resource name.',
  ],
  [
    "one object, as other clients of scale take it",
    (client) => client.deployments.scale({ id: "prod", replicas: 2 } as never, undefined as never),
    "deploymentId of scale(id, replicas) must be a string.",
  ],
  [
    "idempotent that is no boolean",
    (client) => client.deployments.scale("prod", 1, { idempotent: "yes" as unknown as boolean }),
    "idempotent must be true or false.",
  ],
  [
    "onAttempt that is no function",
    (client) => client.deployments.scale("prod", 1, { onAttempt: {} as () => void }),
    "onAttempt must be a function.",
  ],
  [
    "verifyBytes that is no boolean",
    (client) => client.datasets.upload("d", bytes, { name: "f", verifyBytes: 1 as unknown as boolean }),
    "verifyBytes must be true or false.",
  ],
  [
    "a name that is no string",
    (client) => client.datasets.upload("d", bytes, { name: 7 as unknown as string }),
    "name must be a string.",
  ],
  [
    "a name without a base name",
    (client) => client.datasets.upload("d", bytes, { name: "data/" }),
    "name must end with a file name.",
  ],
  [
    "a name with a control character",
    (client) => client.datasets.upload("d", bytes, { name: "a\nb" }),
    "name contains a control character.",
  ],
  [
    "a name with a lone surrogate",
    (client) => client.datasets.upload("d", bytes, { name: "a\ud83d" }),
    "name contains a lone surrogate.",
  ],
];

test.each(calls)("a call refuses %s and says why", async (_what, call, message) => {
  expect(textOf(await failureOf(() => call(connect(server.url))))).toBe(`[INVALID_ARGUMENT] ${message}`);
  expect(server.requests).toEqual([]);
});

describe("at the edge of what is refused, a call is made", () => {
  test.each<[what: string, call: (client: Client) => PromiseLike<unknown>]>([
    [
      "with a fraction of a millisecond more",
      (client) => client.deployments.scale("p", 1, { timeoutMs: 5000.5 }),
    ],
    ["with a letter next to the controls", (client) => client.deployments.scale("\u00a0 ~", 1)],
    [
      "with verifyBytes: false",
      (client) => client.datasets.upload("d", bytes, { name: "f", verifyBytes: false }),
    ],
  ])("%s", async (_what, call) => {
    await call(connect(server.url));
    expect(server.requests).toHaveLength(1);
  });

  test("and verifyBytes: true compares the bytes", async () => {
    server.reply({ json: { id: "file-1", bytes: 2 } });
    const call = () => connect(server.url).datasets.upload("d", bytes, { name: "f", verifyBytes: true });
    expect((await failureOf(call)).code).toBe("DATA_LOSS");
  });

  test("and onAttempt is told of it", async () => {
    const numbers: number[] = [];
    await connect(server.url).deployments.scale("p", 1, { onAttempt: ({ number }) => numbers.push(number) });
    expect(numbers).toEqual([1]);
  });
});

test("documents that are objects are refused with a message that names rerank.items", async () => {
  const documents = [{ text: "Paris." }] as never;
  const error = await failureOf(() => connect("https://a.example").rerank({ query: "q", documents }));
  expect(error.message).toBe(
    "[INVALID_ARGUMENT] documents[0] must be a string. Rank objects with rerank.items.",
  );
});
