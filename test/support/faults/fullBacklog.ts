import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { CannotHappenHere, nowhere, type Place } from "./fault.js";

// Listens, then sleeps for good: the system makes connections until the backlog is full, and nobody takes one.
const sleeper = `
  const { createServer } = require("node:net");
  const { parentPort } = require("node:worker_threads");
  const server = createServer().listen({ port: 0, host: "127.0.0.1", backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    setTimeout(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0), 10);
  });
`;

/** A port whose connections never come about. @throws CannotHappenHere where the system makes them all the same. */
export async function fullBacklog(): Promise<Place> {
  const worker = new Worker(sleeper, { eval: true });
  const [port] = (await once(worker, "message")) as [number];
  await pause(50);
  const fillers: Socket[] = [];
  const close = async (): Promise<void> => {
    for (const socket of fillers) socket.destroy();
    await worker.terminate();
  };
  for (let tries = 0; tries < 8; tries += 1) {
    const socket = connect(port, "127.0.0.1").on("error", () => {});
    fillers.push(socket);
    const connected = once(socket, "connect").then(
      () => true,
      () => false,
    );
    if (await Promise.race([connected, pause(300, false)])) continue;
    return nowhere({ baseUrl: `http://127.0.0.1:${port}` }, close);
  }
  await close();
  throw new CannotHappenHere("This system makes connections beyond a listener's backlog.");
}
