// What goes wrong below HTTP once a request was read.
import type { ServerResponse } from "node:http";
import { constants, deflateRawSync } from "node:zlib";

/** Answers a request as a fault does, and says when the connection has ended. */
export type Fault = (response: ServerResponse, ended: () => void) => void;

// A client without a cap is not to fill its machine: by then it has shown that it has none.
const mostMegabytes = 200;
const gzipHeader = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]);
const begun = '{"object":';
// A reset overtakes what was sent before: the beginning of the answer is let through first.
const letThroughMs = 100;

/** The faults by their names in retries.json; those of the connection are not among them. */
export const faults: Readonly<Record<string, Fault>> = {
  silence: () => {},
  "reset-before-headers": ({ socket }, ended) => {
    ended();
    socket?.resetAndDestroy();
  },
  "close-before-headers": ({ socket }, ended) => {
    ended();
    socket?.destroy();
  },
  "body-stalls": (response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.write("{");
  },
  "body-truncated": (response, ended) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": "100" });
    response.write(begun, () => close(response, ended));
  },
  "body-chunk-cut": (response, ended) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.write("{}", () => close(response, ended));
  },
  "body-reset": (response, ended) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": "100" });
    response.write(begun);
    setTimeout(() => {
      ended();
      response.socket?.resetAndDestroy();
    }, letThroughMs);
  },
  "body-bad-gzip": (response, ended) => {
    response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" });
    ended();
    response.end('{"object":"list"}');
  },
  "body-endless": (response) => {
    response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" });
    response.write(gzipHeader);
    // A block that stands alone, sent again and again: one stream, which every decoder goes on reading.
    const megabyte = deflateRawSync(Buffer.alloc(1024 * 1024, " "), { finishFlush: constants.Z_FULL_FLUSH });
    let sent = 0;
    const more = (error?: Error | null): void => {
      if (error || response.destroyed) return;
      if (sent++ < mostMegabytes) response.write(megabyte, more);
      else response.destroy();
    };
    more();
  },
};

function close(response: ServerResponse, ended: () => void): void {
  ended();
  response.destroy();
}
