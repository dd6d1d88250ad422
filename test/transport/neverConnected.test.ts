import { Agent, type ServerResponse } from "node:http";
import { type LookupFunction, connect as openSocket, type Socket, type TcpNetConnectOpts } from "node:net";
import { describe, expect, test } from "vitest";
import { useNoBackoff } from "../support/backoff.js";
import { connect, failureOf, operationCalls } from "../support/clients.js";
import { answer, useCountingServer } from "../support/countingServer.js";
import { networkError, transientCodes } from "../support/transientCodes.js";

// The same error of the network counts by when it comes: before there is a connection nothing can have run.
const server = useCountingServer();
useNoBackoff();

/** An agent that finds no address, with this error, so many times; then the server's. */
function failingAgent(code: string, times: number): Agent {
  let failed = 0;
  const lookup: LookupFunction = (_name, { all }, done) => {
    if (failed++ < times) setImmediate(done, networkError(code, "connect"), "");
    else if (all) setImmediate(done, null, [{ address: "127.0.0.1", family: 4 }]);
    else setImmediate(done, null, "127.0.0.1", 4);
  };
  return new Agent({ lookup } as object);
}

const named = () => server.url.replace("127.0.0.1", "service.localhost");
const options = { maxRetries: 2, allowInsecureHttp: true };

describe.each(transientCodes)("over node:http %s", (code) => {
  test.each(operationCalls)("before connecting: $operation never ran, and is repeated", async ({ call }) => {
    const error = await failureOf(() =>
      call(connect(named(), { ...options, agent: failingAgent(code, Infinity) })),
    );
    expect(error).toMatchObject({ code: "UNAVAILABLE", executed: "no", codeSource: "transport" });
    expect(error.attempts).toHaveLength(3);
    expect(server.connections).toBe(0);
  });

  test.each(operationCalls)("before connecting, twice: $operation arrives once", async ({ call }) => {
    const client = connect(named(), { ...options, agent: failingAgent(code, 2) });
    const { attempts } = await call(client).withResponse();
    expect(attempts).toHaveLength(3);
    expect(server.used).toHaveLength(1);
  });

  test.each(operationCalls)(
    "after connecting: $operation may have run, and is repeated only where that is safe",
    async ({ call, operation }) => {
      const sockets: Socket[] = [];
      const agent = new Agent();
      Object.assign(agent, {
        createConnection: (to: TcpNetConnectOpts) => sockets[sockets.push(openSocket(to)) - 1],
      });
      server.listen((request) => {
        request.resume().on("error", () => {});
        request.on("end", () => sockets.at(-1)?.destroy(networkError(code, "read")));
      });
      const error = await failureOf(() => call(connect(server.url, { ...options, agent })));
      expect(error).toMatchObject({ code: "UNAVAILABLE", executed: "unknown", codeSource: "transport" });
      expect(server.used).toHaveLength(/^(rerank|scale)/.test(operation) ? 3 : 1);
    },
  );
});

describe.each(operationCalls)("over node:http $operation", ({ call }) => {
  test("whose attemptTimeoutMs runs out while connecting never ran, and is repeated", async () => {
    const stalled = new Agent({ lookup: () => {} } as object);
    const client = connect(named(), { ...options, agent: stalled, attemptTimeoutMs: 20 });
    const error = await failureOf(() => call(client));
    expect(error).toMatchObject({ code: "DEADLINE_EXCEEDED", executed: "no" });
    expect(error.attempts).toHaveLength(3);
    expect(server.connections).toBe(0);
  });

  test("answered 421 is repeated on another connection", async () => {
    const misdirected = new Set<unknown>();
    server.listen((request, response: ServerResponse) => {
      if (misdirected.size === 0) misdirected.add(request.socket);
      if (misdirected.has(request.socket)) response.statusCode = 421;
      answer(request, response);
    });
    const client = connect(server.url, options);
    const { attempts, httpStatus } = await call(client).withResponse();
    expect({ attempts: attempts.length, httpStatus }).toEqual({ attempts: 2, httpStatus: 200 });
    expect(server.used).toEqual([1, 2]);
  });
});
