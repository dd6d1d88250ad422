import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import { buffer } from "node:stream/consumers";
import type { TLSSocket } from "node:tls";
import { certificate, certificateKey } from "./certificate.js";
import { goodText } from "./responses.js";
import { TestServer, useServer } from "./servers.js";

/** One request, after TLS. */
interface SecureRequest {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly authorization: string | undefined;
  readonly body: Buffer;
}

/** A TLS server with a certificate that only tests can trust; it responds to every operation well. */
class SecureServer extends TestServer {
  requests: SecureRequest[] = [];
  /** Subjects of the certificates that clients presented, one a request that had one. */
  clientCertificates: string[] = [];

  constructor() {
    // A client without a certificate is served too.
    const clients = { requestCert: true, rejectUnauthorized: false };
    super(createServer({ cert: certificate, key: certificateKey, ...clients }));
  }

  override get url(): string {
    return `https://localhost:${this.port}`;
  }

  override reset(): void {
    super.reset();
    this.requests = [];
    this.clientCertificates = [];
  }

  protected async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, url, headers } = request;
    const { subject } = (request.socket as TLSSocket).getPeerCertificate();
    if (subject) this.clientCertificates.push(`${subject.CN}`);
    const body = await buffer(request).catch(() => undefined);
    if (body === undefined) return;
    this.requests.push({ method, url, authorization: headers.authorization, body });
    response.end(goodText);
  }
}

/** A TLS server for the tests of the calling file, forgetting between them. */
export function useSecureServer(): SecureServer {
  return useServer(new SecureServer());
}
