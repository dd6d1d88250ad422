import { createServer } from "node:net";
import { createTestService, type TestServer, type TestService } from "tunerank/testing";

/** The stand-in for the service on a port, and when what was asked of it was answered or given up. */
export interface Service extends TestService {
  readonly url: string;
  /** One for each request that has ended; `status` is undefined when its sender was gone. */
  readonly ended: { readonly status: number | undefined; readonly at: number }[];
  close(): Promise<void>;
}

export async function startService(port = 0): Promise<Service> {
  const service = createTestService();
  const ended: Service["ended"] = [];
  const onRequest = ({ status }: { status: number | undefined }) => ended.push({ status, at: Date.now() });
  const server: TestServer = await service.listen({ port, onRequest });
  return Object.assign(service, { url: server.url, ended, close: () => server.close() });
}

/** Resolves once it holds; it is looked at every 20 ms. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 20));
}

/** A port that nobody listens on. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address ? address.port : 0;
}
