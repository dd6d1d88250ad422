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
  readonly #worker: Worker;
  readonly #port: number;
  readonly #secure: boolean;
  /** Requests of node:http that it has read, and responses that it has handed over: known also while this thread is busy. */
  readonly progress: Int32Array;

  private constructor(
    worker: Worker,
    port: number,
    { secure = false }: ThreadServerOptions,
    progress: Int32Array,
  ) {
    this.#worker = worker;
    this.#port = port;
    this.#secure = secure;
    this.progress = progress;
  }

  static async start(options: ThreadServerOptions): Promise<ThreadServer> {
    const progress = new Int32Array(new SharedArrayBuffer(8));
    const workerData = { ...options, progress, cert: certificate, key: certificateKey };
    const worker = new Worker(program, { eval: true, workerData });
    const [port] = (await soon(once(worker, "message"), "a server in a thread listens")) as [number];
    return new ThreadServer(worker, port, options, progress);
  }

  get url(): string {
    return `${this.#secure ? "https" : "http"}://localhost:${this.#port}`;
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
