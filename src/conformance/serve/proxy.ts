// The HTTP proxy of a row: it opens tunnels to the row's server, or rejects them, and says what it should not have got.
import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { proxiedHost, type Via } from "../cell.js";
import { holdsKey } from "./checkRequest.js";
import { closerOf } from "./connectionFaults.js";

/** The proxy of a row, at work. */
export interface Proxy {
  readonly url: string;
  /** What is wrong with the client; read it once the row has its outcome. */
  problems(): readonly string[];
  close(): void;
}

const credentials = "conformance:p@ss";

/** Starts a proxy whose tunnels lead to this port. */
export async function startProxy(via: Via, port: number, keys: readonly string[]): Promise<Proxy> {
  const { scheme, refusal, environment } = via;
  const due = via.credentials && `Basic ${Buffer.from(credentials).toString("base64")}`;
  const problems: string[] = [];
  let asked = 0;
  const server = createServer((request, response) => {
    problems.push(`${request.method} ${request.url} came to the proxy outside a tunnel`);
    response.writeHead(502).end();
  });
  const close = closerOf(server);
  server.on("connect", ({ url, headers, rawHeaders }, socket: Socket) => {
    asked += 1;
    const place = `${proxiedHost}:${scheme === "https" ? 443 : 80}`;
    if (url !== place) problems.push(`the proxy was asked for ${url} instead of ${place}`);
    if (headers.authorization !== undefined || holdsKey(rawHeaders.join("\n"), keys))
      problems.push("the proxy got the key");
    const given = headers["proxy-authorization"];
    const isDue = given === due;
    if (given !== undefined && !isDue)
      problems.push(`Proxy-Authorization is ${given} instead of ${due ?? "none"}`);
    if (refusal === "none") return;
    const status = refusal ?? (isDue ? 200 : 407);
    const ask = status === 407 ? 'Proxy-Authenticate: Basic realm="conformance"\r\n' : "";
    const head = `HTTP/1.1 ${status} ${status === 200 ? "OK" : "No"}\r\n${ask}`;
    if (status !== 200) {
      socket.end(`${head}Content-Length: 0\r\n\r\n`);
      return;
    }
    const onward = connect(port, "127.0.0.1").on("error", () => socket.destroy());
    socket.on("close", () => onward.destroy());
    socket.write(`${head}\r\n`);
    socket.pipe(onward).pipe(socket);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const user = due ? `${encodeURIComponent(credentials).replace("%3A", ":")}@` : "";
  return {
    url: `http://${user}127.0.0.1:${(server.address() as AddressInfo).port}`,
    problems: () => [
      ...problems,
      ...(environment?.unused && asked > 0 ? ["the proxy was asked for what NO_PROXY excepts"] : []),
      ...(due && problems.length === 0 && asked === 0 ? ["the proxy was never asked"] : []),
    ],
    close,
  };
}
