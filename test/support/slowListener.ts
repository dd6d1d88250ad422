import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { goodText } from "./responses.js";
import { soon, turns } from "./turns.js";

/** A port whose connections do not come about until it wakes. */
export interface SlowListener {
  readonly port: number;
  /** Requests that came, all of them after it woke. */
  readonly requests: number;
  /** Takes the connections. The system of who connects meanwhile asks again after a second, and then after two. */
  wake(): void;
  close(): Promise<void>;
}

// Says its port, and sleeps at once: the system makes connections until the backlog is full, and nobody takes one.
const sleeper = `
  const { createServer } = require("node:http");
  const { parentPort, workerData } = require("node:worker_threads");
  const server = createServer((request, response) => {
    parentPort.postMessage("request");
    request.resume().on("end", () => response.end(${JSON.stringify(goodText)}));
  });
  server.listen({ port: 0, host: "127.0.0.1", backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    Atomics.wait(workerData, 0, 0);
  });
`;

/** One on 127.0.0.1; undefined where the system makes connections beyond a listener's backlog. */
export async function slowListener(): Promise<SlowListener | undefined> {
  const gate = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(sleeper, { eval: true, workerData: gate });
  const [port] = (await soon(once(worker, "message"), "a server in a thread listens")) as [number];
  const listener = { port, requests: 0, wake, close };
  worker.on("message", () => listener.requests++);
  const fillers: Socket[] = [];
  function wake(): void {
    for (const socket of fillers) socket.destroy();
    Atomics.store(gate, 0, 1);
    Atomics.notify(gate, 0);
  }
  async function close(): Promise<void> {
    wake();
    await worker.terminate();
  }
  for (let tries = 0; tries < 8; tries += 1) {
    const socket = connect(port, "127.0.0.1").on("error", () => {});
    fillers.push(socket);
    await Promise.race([once(socket, "connect").catch(() => {}), pause(300)]);
    // A busy process reads what came about meanwhile after its timers.
    await turns();
    if (socket.connecting) return listener;
  }
  await close();
  return undefined;
}
