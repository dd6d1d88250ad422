import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { certificate, certificateKey } from "./certificate.js";
import { soon } from "./turns.js";

interface ThreadServerOptions {
  readonly secure?: boolean;
  /** What it does with each request: the body of a function of `request`, `response` and `require`. */
  readonly onRequest: string;
}

/** A server that responds while this thread is busy. */
export class ThreadServer {
  /** Requests of node:http that it has read, and responses that it has handed over: known also while this thread is busy. */
  readonly progress: Int32Array = new Int32Array(new SharedArrayBuffer(8));
  readonly #worker: Worker;
  readonly #scheme: string;
  #port = 0;

  private constructor(options: ThreadServerOptions) {
    const workerData = { ...options, progress: this.progress, cert: certificate, key: certificateKey };
    this.#worker = new Worker(program, { eval: true, workerData });
    this.#scheme = options.secure ? "https" : "http";
  }

  static async start(options: ThreadServerOptions): Promise<ThreadServer> {
    const server = new ThreadServer(options);
    [server.#port] = await soon(once(server.#worker, "message"), "a server in a thread listens");
    return server;
  }

  get url(): string {
    return `${this.#scheme}://localhost:${this.#port}`;
  }

  /** Connections accepted and requests received since this was last asked. */
  async counts(): Promise<{ accepted: number; requests: number }> {
    this.#worker.postMessage("counts");
    const [counts] = await soon(once(this.#worker, "message"), "a server in a thread counts");
    return counts;
  }

  async close(): Promise<void> {
    // Not by terminate(): where bytes of TLS come in just then, Node 20 ends the whole process.
    const ended = once(this.#worker, "exit");
    this.#worker.postMessage("close");
    await soon(ended, "a server in a thread ends");
  }
}

const program = `
const { parentPort, workerData } = require("node:worker_threads");
const { secure, onRequest, progress, cert, key } = workerData;
let counts = { accepted: 0, requests: 0 };
const handle = new Function("request", "response", "require", onRequest);
const server = require(secure ? "node:https" : "node:http").createServer(
  { cert, key, keepAliveTimeout: 60_000 },
  (request, response) => {
    counts.requests += 1;
    request.on("end", () => Atomics.add(progress, 0, 1));
    response.on("finish", () => Atomics.add(progress, 1, 1));
    handle(request.on("error", () => {}), response.on("error", () => {}), require);
  },
);
server.on("connection", (socket) => {
  counts.accepted += 1;
  socket.on("error", () => {});
});
server.on("tlsClientError", () => {});
server.listen(0, "localhost", () => parentPort.postMessage(server.address().port));
parentPort.on("message", (asked) => {
  if (asked === "close") process.exit();
  parentPort.postMessage(counts);
  counts = { accepted: 0, requests: 0 };
});
`;
