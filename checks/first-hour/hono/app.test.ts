import { createTestService } from "tunerank/testing";
import { expect, test } from "vitest";
import { app } from "./app.ts";

test("a busy service is asked again", async () => {
  const service = createTestService();
  const server = await service.listen();
  // The client of the app reads them at its first call.
  Object.assign(process.env, { TUNERANK_BASE_URL: server.url, TUNERANK_API_KEY: "key" });
  service.fail("rerank", { code: "UNAVAILABLE", retryAfter: 0 });
  const response = await app.request("/search?q=France");
  expect(await response.json()).toEqual(["Paris", "Rome"]);
  expect(service.requests.length).toBe(2);
  await server.close();
});
