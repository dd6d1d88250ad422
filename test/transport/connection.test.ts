import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connect, failureOf, operationCalls, transports } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { type RefusingPort, refusingPort } from "../support/refusingPort.js";
import { runScript } from "../support/script.js";

const server = useRecordingServer();

let refusing: RefusingPort;
beforeAll(async () => {
  refusing = await refusingPort();
});
afterAll(() => refusing.close());

describe.each(transports)("over $name", ({ options }) => {
  test.each(operationCalls)(
    "$operation refused by the machine is UNAVAILABLE and did not run",
    async ({ operation, call }) => {
      const client = connect(refusing.url, options);
      const error = await failureOf(() => call(client));
      expect(error).toMatchObject({
        code: "UNAVAILABLE",
        executed: "no",
        inferred: true,
        codeSource: "transport",
        operation,
      });
      expect(error.httpStatus).toBeUndefined();
      expect(error.cause).toBeInstanceOf(Error);
      expect(error.message).toContain("ECONNREFUSED");
      expect(error.attempts).toMatchObject([{ number: 1, code: "UNAVAILABLE", cause: error.cause }]);
    },
  );

  test("a host name that does not exist is UNAVAILABLE and did not run", async () => {
    // A label of a name has at most 63 characters: no server has to be asked.
    const client = connect(`https://${"x".repeat(64)}.invalid`, options);
    const error = await failureOf(() => client.deployments.scale("prod", 1));
    expect(error).toMatchObject({ code: "UNAVAILABLE", executed: "no", codeSource: "transport" });
  });

  test.each(operationCalls)(
    "$operation whose connection closes before the answer may have run",
    async ({ call }) => {
      server.reply((_request, response) => {
        response.destroy();
        return undefined;
      });
      const error = await failureOf(() => call(connect(server.url, options)));
      expect(error).toMatchObject({
        code: "UNAVAILABLE",
        executed: "unknown",
        inferred: true,
        codeSource: "transport",
      });
      expect(server.requests).toHaveLength(1);
    },
  );

  test("an answer that is no HTTP is UNAVAILABLE, and the call may have run", async () => {
    server.reply((_request, response) => {
      response.socket?.end("SSH-2.0-OpenSSH_9.6\r\n");
      return undefined;
    });
    const error = await failureOf(() => connect(server.url, options).deployments.scale("prod", 1));
    expect(error).toMatchObject({ code: "UNAVAILABLE", executed: "unknown", codeSource: "transport" });
  });

  test("a client recovers after a failed call", async () => {
    server.reply((_request, response) => {
      response.destroy();
      return undefined;
    });
    const client = connect(server.url, options);
    await failureOf(() => client.deployments.scale("prod", 1));
    server.reply({ json: {} });
    await client.deployments.scale("prod", 1);
    expect(server.requests).toHaveLength(2);
  });
});

test.each(transports)("a process with an idle client over $name ends by itself", async ({ options }) => {
  const script = `
    import { createClient } from "./src/index.ts";
    const client = createClient({ baseUrl: process.env.URL${options.fetch ? ", fetch" : ""} });
    await client.rerank({ query: "q", documents: ["d"] });
    console.log("answered");
  `;
  server.keepSocketsOpen();
  const { exitCode, stdout, stderr } = await runScript(script, { URL: server.url });
  expect({ exitCode, stdout, stderr }).toMatchObject({ exitCode: 0, stdout: "answered\n" });
  expect(server.requests).toHaveLength(1);
});
