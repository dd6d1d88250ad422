import assert from "node:assert/strict";
import { after, beforeEach } from "node:test";
import { type Client, type ClientOptions, createClient } from "tunerank";
import { createTestService, type TestServer, type TestService } from "tunerank/testing";

export const service: TestService = createTestService();
export const server: TestServer = await service.listen();

after(() => server.close());
beforeEach(() => service.reset());

export function connect(options: ClientOptions = {}): Client {
  return createClient({ baseUrl: server.url, apiKey: "test-key", accountId: "acme", ...options });
}

/** The body of the first request since the test began. */
export function firstBody(): Readonly<Record<string, unknown>> {
  const [request] = service.requests;
  assert.ok(request, "nothing was sent");
  return request.body as Record<string, unknown>;
}
