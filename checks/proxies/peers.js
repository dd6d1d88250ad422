// Other clients as their own documentation has them called, with their defaults.
const openers = {
  async undici(baseUrl, key) {
    const { Agent, request } = await import("undici");
    const dispatcher = new Agent();
    return {
      async post(path, body) {
        const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
        const response = await request(baseUrl + path, {
          method: "POST",
          headers,
          body: JSON.stringify(body),
          dispatcher,
        });
        if (response.statusCode !== 200) throw new Error(`HTTP ${response.statusCode}`);
        return response.body.json();
      },
      close: () => dispatcher.close(),
    };
  },
  async got(baseUrl, key) {
    const { default: got } = await import("got");
    const headers = { authorization: `Bearer ${key}` };
    return { post: (path, json) => got.post(baseUrl + path, { json, headers }).json() };
  },
  async openai(baseURL, apiKey) {
    const { default: OpenAI } = await import("openai");
    const client = new OpenAI({ apiKey, baseURL });
    return { post: (path, body) => client.post(path, { body }) };
  },
  async stripe(baseUrl, key) {
    const { default: Stripe } = await import("stripe");
    const { hostname: host, port } = new URL(baseUrl);
    const client = new Stripe(key, { host, port, protocol: "http", telemetry: false });
    return { post: (path, body) => client.rawRequest("POST", path, body) };
  },
};

export function open(name, baseUrl, key) {
  return openers[name](baseUrl, key);
}
