import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { Agent } from "undici";
import { expect, test } from "vitest";
import { connect, failureOf } from "../support/clients.js";

test("over a dispatcher a connection that is lost in the TLS handshake never ran, and is retried", async () => {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.on("error", () => {}).once("data", () => socket.resetAndDestroy());
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const dispatcher = new Agent();
  const client = connect(`https://127.0.0.1:${(server.address() as AddressInfo).port}`, {
    dispatcher,
    maxRetries: 1,
  });
  const error = await failureOf(() => client.reinforcementFineTuningJobs.resume("job-1"));
  await dispatcher.destroy();
  server.close();
  expect(error).toMatchObject({ code: "UNAVAILABLE", executed: "no", executedBecause: "nothing-sent" });
  expect([error.attempts.length, connections]).toEqual([2, 2]);
});
