import { readByClient } from "../clientSockets.js";
import { goodText } from "../responses.js";
import type { Act } from "./faultServer.js";

type Bytes = string | Uint8Array;

/** A head of a response. */
export function head(
  status: string | number,
  headers: Readonly<Record<string, string | number>> = {},
): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status}${typeof status === "number" ? " As Asked" : ""}\r\n${lines.join("")}\r\n`;
}

/** A whole response with its length. */
export function respond(
  status: string | number,
  body: Bytes,
  headers: Readonly<Record<string, string | number>> = {},
): Buffer {
  const type = { "content-type": "application/json", "content-length": Buffer.byteLength(body), ...headers };
  return Buffer.concat([Buffer.from(head(status, type), "latin1"), Buffer.from(body as string)]);
}

/** A right response of any operation. */
export const good: Buffer = respond(200, goodText);

// Between two calls a busy machine may need more than the 4 s for which Node's fetch keeps a connection by default.
const goodAndKept = respond(200, goodText, { "keep-alive": "timeout=25" });

/** Does something else with all but the first request of a connection, and responds to that one as it should. */
export function afterGood(act: Act): Act {
  return (socket, moment) => (moment.request === 1 ? void socket.write(goodAndKept) : act(socket, moment));
}

/** Sends these bytes, and then nothing. */
export function send(...parts: readonly Bytes[]): Act {
  return (socket) => void socket.write(Buffer.concat(parts.map((part) => Buffer.from(part as string))));
}

/** Sends these bytes and closes. */
export function sendAndClose(...parts: readonly Bytes[]): Act {
  return (socket) => void socket.end(Buffer.concat(parts.map((part) => Buffer.from(part as string))));
}

/** Sends these bytes, gives them time to arrive, and resets. */
export function sendAndReset(...parts: readonly Bytes[]): Act {
  return (socket, moment) => {
    send(...parts)(socket, moment);
    void readByClient(socket).then(() => socket.resetAndDestroy());
  };
}

/** Sends some bytes at once, then the others one by one. */
export function drip(first: Bytes, rest: string, everyMs: number): Act {
  return (socket) => {
    socket.write(first);
    let timer: NodeJS.Timeout;
    const next = (sent: number): void => {
      if (sent >= rest.length) return;
      timer = setTimeout(() => {
        socket.write(rest.charAt(sent));
        next(sent + 1);
      }, everyMs);
    };
    next(0);
    socket.on("close", () => clearTimeout(timer));
  };
}

/** Sends some bytes, then the others again and again, as fast as they are taken. */
export function endless(first: Bytes, again: Bytes): Act {
  return (socket) => {
    socket.write(first);
    const more = (): void => {
      if (!socket.destroyed) socket.write(again, () => setImmediate(more));
    };
    more();
  };
}
