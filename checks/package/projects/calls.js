test("calls the service over a port", async () => {
  const service = createTestService();
  const server = await service.listen();
  const options = { baseUrl: server.url, apiKey: "key", accountId: "acme" };
  const client = createClient(options);
  const { data } = await client.rerank({ query: "b", documents: ["a", "b"] });
  equal(data[0].index, 1);
  const file = await client.datasets.upload("reviews", `${process.cwd()}/package.json`);
  equal(file.filename, "package.json");
  service.fail("rerank", { status: 404, code: "NOT_FOUND" });
  const refused = await failureOf(client.rerank({ query: "q", documents: ["d"] }));
  equal(isStatusError(refused, "NOT_FOUND"), true);
  equal(refused instanceof StatusError, true);
  await server.close();
  await client.close();
  const late = createClient({ ...options, maxRetries: 0 });
  const unreached = await failureOf(late.rerank({ query: "q", documents: ["d"] }));
  equal(unreached.cause?.code, "ECONNREFUSED");
  equal(unreached.executed, "no");
});

async function failureOf(call) {
  return await call.then(
    () => undefined,
    (error) => error,
  );
}

// No library: what is under test is how this file finds the package.
function equal(found, wanted) {
  if (found !== wanted) throw new Error(`${found} is not ${wanted}`);
}
