import { expect, test } from "vitest";
import { connect, failureOf, transports } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { done, goodText } from "../support/responses.js";

const server = useRecordingServer();
const rerank = { query: "q", documents: ["d"] };

test.each(transports)(
  "over $name request-id is the request id of a response without x-request-id",
  async ({ options }) => {
    const client = connect(server.url, options);
    server.reply({ ...done, headers: { "request-id": "r-1" } });
    expect((await client.rerank(rerank).withResponse()).requestId).toBe("r-1");
    server.reply({ status: 400, json: {}, headers: { "request-id": "r-2", "x-request-id": "r-3" } });
    expect((await failureOf(() => client.rerank(rerank))).requestId).toBe("r-3");
  },
);

test.each(transports)("over $name a redirect is one, whatever code its body names", async ({ options }) => {
  const json = { code: "UNAVAILABLE", message: "Elsewhere." };
  server.reply({ status: 307, json, headers: { location: `${server.url}/elsewhere` } });
  const error = await failureOf(() => connect(server.url, options).rerank(rerank));
  expect(error).toMatchObject({ code: "FAILED_PRECONDITION", codeSource: "status", httpStatus: 307 });
  expect(error.hint).toContain("baseUrl");
});

test.each(transports)("over $name a header that comes twice has both values", async ({ options }) => {
  server.reply((_request, response) => {
    response.writeHead(200, ["x-part", "a", "x-part", "b", "content-type", "application/json"]).end(goodText);
    return undefined;
  });
  const { headers } = await connect(server.url, options).rerank(rerank).withResponse();
  expect(headers["x-part"]).toBe("a, b");
});
