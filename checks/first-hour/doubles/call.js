// Installs the double that is named, makes one call, and tells whether the double responded.
import { createClient } from "tunerank";

const baseUrl = "https://service.test";
const response = { object: "list", model: "m", data: [{ index: 0, relevance_score: 0.5 }], usage: {} };

/** Each returns what the client is made with besides its address and key. */
const doubles = {
  async testing() {
    const { createTestService } = await import("tunerank/testing");
    return { fetch: createTestService().fetch };
  },
  async stub() {
    // What vi.stubGlobal("fetch", ...) does.
    globalThis.fetch = async () => Response.json(response);
    return {};
  },
  async msw() {
    const { http, HttpResponse } = await import("msw");
    const { setupServer } = await import("msw/node");
    setupServer(http.post(`${baseUrl}/*`, () => HttpResponse.json(response))).listen();
    return {};
  },
  async nock() {
    const { default: nock } = await import("nock");
    nock(baseUrl).post("/inference/v1/rerank").reply(200, response);
    return {};
  },
  async mockAgent() {
    const { MockAgent, setGlobalDispatcher } = await import("undici");
    const agent = new MockAgent();
    agent.get(baseUrl).intercept({ path: "/inference/v1/rerank", method: "POST" }).reply(200, response);
    setGlobalDispatcher(agent);
    return {};
  },
};

export async function call(name) {
  let options;
  try {
    options = await doubles[name]();
  } catch {
    return "does not run there";
  }
  const client = createClient({ baseUrl, apiKey: "key", maxRetries: 0, timeoutMs: 5000, ...options });
  return await client.rerank({ query: "q", documents: ["d"] }).then(
    () => "yes",
    () => "no",
  );
}
