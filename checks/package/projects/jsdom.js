// Jest resolves the package as a browser's here, and jsdom has no fetch.
const options = { baseUrl: "https://service.test", apiKey: "key" };

test.each([{}, { dangerouslyAllowBrowser: true }])("says what to set: %o", (more) => {
  expect(() => createClient({ ...options, ...more })).toThrow('testEnvironment: "node"');
});

test("knows the errors of the package", () => {
  try {
    createClient(options);
  } catch (error) {
    expect(isStatusError(error, "INVALID_ARGUMENT")).toBe(true);
    expect(error).toBeInstanceOf(StatusError);
  }
  expect.assertions(2);
});

test("the mock server says it too", async () => {
  const { fetch } = createTestService();
  const client = createClient({ ...options, dangerouslyAllowBrowser: true, fetch, maxRetries: 0 });
  const call = client.rerank({ query: "b", documents: ["a", "b"] });
  await expect(call).rejects.toThrow('testEnvironment: "node"');
});
