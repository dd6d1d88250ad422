import { expect, test } from "vitest";
import { createClient } from "../../src/index.js";
import { failureOf } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();

test("of a page that ends with a part of the key and a tag, neither message nor body shows that part", async () => {
  const apiKey = "sk-0123456789abcdef";
  const part = apiKey.slice(0, 14);
  server.reply({
    status: 403,
    text: `<html><p>Rejected: ${part}<br>`,
    headers: { "content-type": "text/html" },
  });
  const client = createClient({ baseUrl: server.url, apiKey });
  const { message } = await failureOf(() => client.rerank({ query: "q", documents: ["d"] }));
  expect(message).toContain("Rejected: [redacted]");
  expect(message).not.toContain(part);
});
