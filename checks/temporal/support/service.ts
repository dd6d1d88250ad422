import { createTestService, type TestServer, type TestService } from "tunerank/testing";

/** The mock server on a port, and when a request got its response or was given up. */
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
