import { afterAll, expect, test } from "vitest";
import { createTestService } from "../../src/testing/index.js";
import { connect } from "../support/clients.js";

const service = createTestService();
const server = await service.listen();
afterAll(() => server.close());

test("a file of 150 MB is taken, one byte more is refused with 413", async () => {
  const most = 150 * 1024 * 1024;
  const client = connect(server.url);
  expect(
    await client.datasets.upload("reviews", new Blob([new Uint8Array(most)]), { name: "f" }),
  ).toMatchObject({ bytes: most });
  const form = new FormData();
  form.append("file", new Blob([new Uint8Array(most + 1)]), "f");
  const request = { method: "POST", body: form, headers: { authorization: "Bearer k" } };
  for (const send of [service.fetch, fetch]) {
    const response = await send(`${server.url}/v1/accounts/acme/datasets/reviews:upload`, request);
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({
      code: "INVALID_ARGUMENT",
      message: expect.stringContaining(`${most}`),
    });
  }
});
