// The clock of a test ends a wait for a retry, and a deadline. The service is a real server of node:http.
const stepMs = 500;

test("a wait for a retry", async () => {
  const server = await listen((response, number) =>
    number === 1 ? response.writeHead(429, { "retry-after": "30" }).end() : response.end("{}"),
  );
  const { passedMs, error } = await timed(server.url, { timeoutMs: 120_000 });
  await server.close();
  isTrue(error === undefined, error);
  isTrue(server.requests === 2, `${server.requests} requests`);
  isTrue(passedMs >= 30_000 && passedMs < 40_000, `${passedMs} ms`);
});

test("a deadline", async () => {
  const server = await listen(() => {});
  const { passedMs, error } = await timed(server.url, { timeoutMs: 30_000, maxRetries: 0 });
  await server.close();
  isTrue(isStatusError(error, "DEADLINE_EXCEEDED"), error);
  isTrue(error.executed === "unknown", error.executed);
  isTrue(server.requests === 1, `${server.requests} requests`);
  isTrue(passedMs >= 30_000 && passedMs < 40_000, `${passedMs} ms`);
});

test("what needs no time", async () => {
  const server = await listen((response, number) => {
    const whole = JSON.stringify({ id: "file-1", data: [], pad: "x".repeat(number * 100_000) });
    response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(whole));
  });
  startClock();
  const client = createClient({ baseUrl: server.url, apiKey: "key", accountId: "acme" });
  const chunks = async function* () {
    for (let number = 0; number < 40; number++) yield new Uint8Array(50_000);
  };
  const large = { query: "q", documents: ["x".repeat(3_000_000)] };
  await client.datasets.upload("reviews", new Uint8Array(2_000_000), { name: "bytes" });
  await client.datasets.upload("reviews", chunks(), { name: "stream" });
  await Promise.all([1, 2, 3].map(() => client.rerank(large)));
  stopClock();
  await client.close();
  await server.close();
  isTrue(server.requests === 5, `${server.requests} requests`);
});

// Makes a call under the clock, which passes until the call has ended.
async function timed(baseUrl, options) {
  startClock();
  const client = createClient({ baseUrl, apiKey: "key", accountId: "acme" });
  let result;
  client.deployments.scale("prod", 1, options).then(
    () => (result = {}),
    (error) => (result = { error }),
  );
  let passedMs = 0;
  for (; result === undefined && passedMs < 200_000; passedMs += stepMs) {
    await pass(stepMs);
    // What is on its way in the network arrives.
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setRealImmediate(resolve));
  }
  stopClock();
  await client.close();
  const { error } = result ?? { error: "The call has not ended." };
  return { passedMs, error };
}

async function listen(respond) {
  const found = { requests: 0, url: "", close: undefined };
  const server = createServer((request, response) => {
    request.resume();
    respond(response, ++found.requests);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  found.url = `http://127.0.0.1:${server.address().port}`;
  found.close = async () => {
    server.closeAllConnections();
    server.close();
  };
  return found;
}

function isTrue(value, found) {
  if (!value) throw new Error(String(found));
}
