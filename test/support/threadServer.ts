import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { certificate, certificateKey } from "./certificate.js";
import { soon } from "./turns.js";

/** What a server in a thread of its own does with each request: the body of a function of `request` and `response`. */
export interface ThreadServerOptions {
  readonly secure?: boolean;
  /** Handles a request of node:http. */
  readonly onRequest?: string;
  /** Handles a socket, after TLS where it is secure: nothing of HTTP is done for it. */
  readonly onSocket?: string;
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

  /** Connections accepted since this was last asked, open now, and the most that were open at once; requests received. */
  async counts(): Promise<{ accepted: number; open: number; most: number; requests: number }> {
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
const { secure, onRequest, onSocket, progress, cert, key } = workerData;
const library = require(onSocket ? (secure ? "node:tls" : "node:net") : secure ? "node:https" : "node:http");
const counts = { accepted: 0, open: 0, most: 0, requests: 0 };
const handleRequest = onRequest && new Function("request", "response", "require", onRequest);
const handleSocket = onSocket && new Function("socket", "require", onSocket);
const server = onSocket
  ? library.createServer({ cert, key }, (socket) => {
      counts.requests += 1;
      handleSocket(socket.on("error", () => {}), require);
    })
  : library.createServer({ cert, key, keepAliveTimeout: 60_000 }, (request, response) => {
      counts.requests += 1;
      request.on("end", () => Atomics.add(progress, 0, 1));
      response.on("finish", () => Atomics.add(progress, 1, 1));
      handleRequest(request.on("error", () => {}), response.on("error", () => {}), require);
    });
server.on("connection", (socket) => {
  counts.accepted += 1;
  counts.most = Math.max(counts.most, (counts.open += 1));
  socket.on("error", () => {}).on("close", () => (counts.open -= 1));
});
server.on("tlsClientError", () => {});
server.listen(0, "localhost", () => parentPort.postMessage(server.address().port));
parentPort.on("message", (asked) => {
  if (asked === "close") process.exit();
  parentPort.postMessage({ ...counts });
  Object.assign(counts, { accepted: 0, most: counts.open, requests: 0 });
});
`;
