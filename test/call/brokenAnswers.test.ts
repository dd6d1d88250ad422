import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { connect, failureOf, operationCalls, transports } from "../support/clients.js";
import { type Reply, type Script, useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();

const page = "<!DOCTYPE html><html><head><title>Sign in</title></head></html>";

const answers: readonly (readonly [what: string, reply: Reply, executed: string])[] = [
  ["a web page", { text: page, headers: { "content-type": "text/html" } }, "unknown"],
  ["a web page that claims to be JSON", { text: `\n ${page}` }, "unknown"],
  ["nothing", { text: "" }, "yes"],
  ["no content", { status: 204, text: "", headers: {} }, "yes"],
  ["white space", { text: " \n" }, "yes"],
  ["text", { text: "OK", headers: { "content-type": "text/plain" } }, "yes"],
  ["JSON that is cut off", { text: '{"object":"li' }, "yes"],
  ["two JSON texts", { text: "{}{}" }, "yes"],
  ["null", { text: "null" }, "yes"],
  ["a list", { text: "[{}]" }, "yes"],
  ["a number", { text: "42" }, "yes"],
  ["a string", { text: '"ok"' }, "yes"],
];

/** Answers that begin with status 200 and are never completed. */
const cut: readonly (readonly [what: string, script: Script])[] = [
  [
    "shorter than its content-length",
    (_request, response) => {
      response.writeHead(200, { "content-length": "100" });
      response.write('{"object":', () => response.destroy());
      return undefined;
    },
  ],
  [
    "cut between chunks",
    (_request, response) => {
      response.writeHead(200);
      response.write("{}", () => response.destroy());
      return undefined;
    },
  ],
  [
    "gzip that is cut off",
    () => ({ text: gzipSync("{}").subarray(0, 12), headers: { "content-encoding": "gzip" } }),
  ],
  ["gzip that is none", () => ({ text: "{}", headers: { "content-encoding": "gzip" } })],
];

describe.each(transports)("over $name", ({ options }) => {
  describe.each(operationCalls)("$operation", ({ operation, call }) => {
    test.each(answers)("answered 2xx with %s is INTERNAL", async (_what, reply, executed) => {
      server.reply(reply);
      const error = await failureOf(() => call(connect(server.url, options)));
      expect(error).toMatchObject({
        code: "INTERNAL",
        executed,
        operation,
        httpStatus: reply.status ?? 200,
        inferred: true,
        codeSource: "client",
      });
    });
  });

  test("a web page hints at the base URL", async () => {
    server.reply({ text: page });
    const error = await failureOf(() => connect(server.url, options).deployments.scale("prod", 1));
    expect(error.hint).toContain("baseUrl");
  });

  test.each(cut)("a 2xx answer %s is INTERNAL, and it ran", async (_what, script) => {
    server.reply(script);
    const error = await failureOf(() => connect(server.url, options).deployments.scale("prod", 1));
    expect(error).toMatchObject({ code: "INTERNAL", executed: "yes", httpStatus: 200, inferred: true });
  });

  test("an error answer that is cut off still counts with its status", async () => {
    server.reply((_request, response) => {
      response.writeHead(404, { "content-length": "100" });
      response.write("No such", () => response.destroy());
      return undefined;
    });
    const error = await failureOf(() => connect(server.url, options).deployments.scale("prod", 1));
    expect(error).toMatchObject({ code: "NOT_FOUND", executed: "no", httpStatus: 404 });
  });

  test.each([
    ["plain", (text: string): Reply => ({ text })],
    [
      "compressed to almost nothing",
      (text: string): Reply => ({ text: gzipSync(text), headers: { "content-encoding": "gzip" } }),
    ],
  ])("an answer beyond 1 MiB, %s, is RESOURCE_EXHAUSTED, and it ran", async (_what, reply) => {
    server.reply(reply(JSON.stringify({ name: "x".repeat(1024 * 1024) })));
    const error = await failureOf(() => connect(server.url, options).reinforcementFineTuningJobs.resume("j"));
    expect(error).toMatchObject({ code: "RESOURCE_EXHAUSTED", executed: "yes", codeSource: "client" });
  });

  test("a rerank answer may carry its documents back", async () => {
    const document = "x".repeat(3 * 1024 * 1024);
    server.reply({ json: { data: [{ index: 0, relevance_score: 1, document }] } });
    const { data } = await connect(server.url, options).rerank({ query: "q", documents: [document] });
    expect(data[0]?.document).toBe(document);
  });
});
