import { once } from "node:events";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import type { TLSSocket } from "node:tls";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { certificate, certificateKey } from "./certificate.js";
import { goodText } from "./responses.js";
import { listen } from "./servers.js";
import { soon } from "./turns.js";

/** One request, after TLS. */
export interface SecureRequest {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly authorization: string | undefined;
  readonly body: Buffer;
}

/** A real TLS server on a free port, with a certificate that only tests can trust; it responds to every operation well. */
export class SecureServer {
  requests: SecureRequest[] = [];
  /** Sockets that finished their handshake since the last reset. */
  connections = 0;
  /** Subjects of the certificates that clients presented, one a request that had one. */
  clientCertificates: string[] = [];
  // A client without a certificate is served too.
  readonly #options = {
    cert: certificate,
    key: certificateKey,
    requestCert: true,
    rejectUnauthorized: false,
  };
  readonly #server: Server = createServer(this.#options, (request, response) => {
    const { method, url, headers } = request;
    const { subject } = (request.socket as TLSSocket).getPeerCertificate();
    if (subject) this.clientCertificates.push(`${subject.CN}`);
    buffer(request).then(
      (body) => {
        this.requests.push({ method, url, authorization: headers.authorization, body });
        response.end(goodText);
      },
      () => {},
    );
  });

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `https://localhost:${this.port}`;
  }

  async start(): Promise<void> {
    this.#server.on("secureConnection", () => {
      this.connections += 1;
    });
    await listen(this.#server);
  }

  reset(): void {
    this.requests = [];
    this.connections = 0;
    this.clientCertificates = [];
  }

  async close(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await soon(closed, "the server closes");
  }
}

/** A TLS server for the tests of the calling file, forgetting between them. */
export function useSecureServer(): SecureServer {
  const server = new SecureServer();
  beforeAll(() => server.start());
  beforeEach(() => server.reset());
  afterAll(() => server.close());
  return server;
}
