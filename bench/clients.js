// Who is measured. What a client needs is loaded when it is opened: a process has nothing of the others.
import { pathToFileURL } from "node:url";

const path = "/inference/v1/rerank";
const uploadPath = "/v1/accounts/bench/datasets/bench:upload";
const key = "bench-key";
const authorization = `Bearer ${key}`;
const headers = { authorization, "content-type": "application/json" };

const given = process.env.TUNERANK_BENCH_ENTRY;
const entry = given ? pathToFileURL(given) : new URL("../dist/index.js", import.meta.url);

const clients = {
  tunerank: (baseUrl) => ours(baseUrl),
  tunerankDispatcher: (baseUrl) => ours(baseUrl, {}),
  tunerankHttp2: (baseUrl) => ours(baseUrl, { allowH2: true }),

  async nodeHttp(baseUrl) {
    const post = await nodePost(baseUrl);
    return {
      async rerank(body) {
        const bytes = Buffer.from(JSON.stringify(body));
        const { request, response } = post(path, { ...headers, "content-length": bytes.byteLength });
        request.end(bytes);
        return JSON.parse((await response).bytes.toString("utf8"));
      },
      async upload(file) {
        const { createReadStream, statSync } = await import("node:fs");
        const boundary = "bare-node-http-boundary";
        const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="train.jsonl"\r\nContent-Type: application/octet-stream\r\n\r\n`;
        const tail = `\r\n--${boundary}--\r\n`;
        const { request, response } = post(uploadPath, {
          authorization,
          "content-type": `multipart/form-data; boundary=${boundary}`,
          "content-length": head.length + statSync(file).size + tail.length,
        });
        request.write(head);
        // On Node 24 a pipeline into a request now and then waits for ever for its "drain".
        for await (const chunk of createReadStream(file, { highWaterMark: 1024 * 1024 }))
          await new Promise((resolve) => request.write(chunk, resolve));
        request.end(tail);
        return JSON.parse((await response).bytes.toString("utf8"));
      },
    };
  },

  async nodeHttpByHand(baseUrl) {
    const { gunzipSync } = await import("node:zlib");
    const post = await nodePost(baseUrl);
    return byHand(async (json) => {
      const bytes = Buffer.from(json);
      const lengths = { "accept-encoding": "gzip", "content-length": bytes.byteLength };
      const { request, response } = post(path, { ...headers, ...lengths });
      request.end(bytes);
      const { status, encoding, bytes: received } = await response;
      return {
        status,
        value: JSON.parse(encoding === "gzip" ? gunzipSync(received) : received.toString("utf8")),
      };
    });
  },

  async nodeHttp2(baseUrl) {
    const { default: http2 } = await import("node:http2");
    const session = http2.connect(baseUrl);
    return byHand(
      (json) =>
        new Promise((resolve, reject) => {
          const bytes = Buffer.from(json);
          const about = { ":method": "POST", ":path": path, "content-length": bytes.byteLength };
          const stream = session.request({ ...about, ...headers });
          const chunks = [];
          let status;
          stream.on("error", reject);
          stream.on("response", (received) => {
            status = received[":status"];
          });
          stream.on("data", (chunk) => chunks.push(chunk));
          stream.on("end", () =>
            resolve({ status, value: JSON.parse(Buffer.concat(chunks).toString("utf8")) }),
          );
          stream.end(bytes);
        }),
    );
  },

  async undici(baseUrl) {
    const { FormData, request } = await import("undici");
    return overForms(FormData, async (to, sent, body) => {
      const response = await request(baseUrl + to, { method: "POST", headers: sent, body });
      if (response.statusCode !== 200) throw new Error(`HTTP ${response.statusCode}`);
      return await response.body.json();
    });
  },

  async undiciPool(baseUrl) {
    const { Pool } = await import("undici");
    const pool = new Pool(baseUrl);
    return {
      async rerank(body) {
        const response = await pool.request({ method: "POST", path, headers, body: JSON.stringify(body) });
        return await response.body.json();
      },
    };
  },

  undiciPoolByHand: (baseUrl) => poolByHand(baseUrl),
  undiciPoolHttp2: (baseUrl) => poolByHand(baseUrl, { allowH2: true }),

  fetch: (baseUrl) =>
    overForms(globalThis.FormData, async (to, sent, body) => {
      const response = await fetch(baseUrl + to, { method: "POST", headers: sent, body });
      if (!response.ok) throw new Error(`HTTP ${response.status}`);
      return await response.json();
    }),

  // openai has no rerank: its raw request is used. Its upload goes to its own path.
  async openai(baseURL) {
    const [{ default: OpenAI }, { createReadStream }] = await Promise.all([
      import("openai"),
      import("node:fs"),
    ]);
    const client = new OpenAI({ apiKey: key, baseURL });
    return {
      rerank: (body) => client.post(path, { body }),
      upload: (file) => client.files.create({ file: createReadStream(file), purpose: "fine-tune" }),
    };
  },

  async togetherAi(baseURL) {
    const { default: Together } = await import("together-ai");
    const client = new Together({ apiKey: key, baseURL });
    return { rerank: (body) => client.rerank.create(body) };
  },

  async cohereAi(baseUrl) {
    const { CohereClientV2 } = await import("cohere-ai");
    const client = new CohereClientV2({ token: key, baseUrl });
    return {
      rerank: ({ query, documents, model, top_n }) => client.rerank({ query, documents, model, topN: top_n }),
    };
  },
};

/** Opens a client: `rerank`, and `upload` of a path where it has one. */
export async function open(name, baseUrl) {
  return clients[name](baseUrl);
}

/** `rerankAll` of the package as built. @param pool Options of a Pool of undici, to send over one */
export async function openBulk(baseUrl, pool) {
  const { rerankAll } = await import(new URL("bulk/index.js", entry));
  const client = await createOurs(baseUrl, pool);
  return (requests, options) => rerankAll(client, requests, options);
}

async function ours(baseUrl, pool) {
  const client = await createOurs(baseUrl, pool);
  return {
    rerank: (body, options) => client.rerank(body, options),
    rerankItems: (...items) => client.rerank.items(...items),
    upload: (file, options) => client.datasets.upload("bench", file, options),
  };
}

async function createOurs(baseUrl, pool) {
  const { createClient } = await import(entry);
  const dispatcher = pool && new (await import("undici")).Pool(baseUrl, pool);
  return createClient({ baseUrl, apiKey: key, accountId: "bench", dispatcher });
}

// The floor: node:http with a keep-alive agent, and nothing around it.
async function nodePost(baseUrl) {
  const { protocol, hostname, port } = new URL(baseUrl);
  const { default: http } = await import(protocol === "https:" ? "node:https" : "node:http");
  const agent = new http.Agent({ keepAlive: true });
  return (to, sent) => {
    const request = http.request({ hostname, port, path: to, method: "POST", agent, headers: sent });
    const response = new Promise((resolve, reject) => {
      request.on("error", reject);
      request.on("response", (received) => {
        const chunks = [];
        received.on("data", (chunk) => chunks.push(chunk));
        received.on("error", reject);
        received.on("end", () => {
          const { statusCode: status, headers: names } = received;
          resolve({ status, encoding: names["content-encoding"], bytes: Buffer.concat(chunks) });
        });
      });
    });
    return { request, response };
  };
}

async function poolByHand(baseUrl, options) {
  const [{ gunzipSync }, { Pool }] = await Promise.all([import("node:zlib"), import("undici")]);
  const pool = new Pool(baseUrl, options);
  const sent = { ...headers, "accept-encoding": "gzip" };
  return byHand(async (json) => {
    const {
      statusCode: status,
      headers: received,
      body,
    } = await pool.request({ method: "POST", path, headers: sent, body: json });
    const isGzip = received["content-encoding"] === "gzip";
    return { status, value: isGzip ? JSON.parse(gunzipSync(await body.bytes())) : await body.json() };
  });
}

function overForms(FormData, responseTo) {
  return {
    rerank: (body) => responseTo(path, headers, JSON.stringify(body)),
    async upload(file) {
      const { openAsBlob } = await import("node:fs");
      const form = new FormData();
      form.append("file", await openAsBlob(file), "train.jsonl");
      return responseTo(uploadPath, { authorization }, form);
    },
  };
}

// What people write around a bare request: an error for a status that is not 2xx, and up to two retries after a 503, each
// after a random wait. The waits are as long as this package's, because calls that wait are not in flight.
function byHand(send) {
  const backoffMs = [250, 500];
  return {
    async rerank(body) {
      const json = JSON.stringify(body);
      let { status, value } = await send(json);
      for (let retries = 0; status === 503 && retries < backoffMs.length; retries++) {
        await new Promise((resolve) => setTimeout(resolve, Math.random() * backoffMs[retries]));
        ({ status, value } = await send(json));
      }
      if (status < 200 || status > 299)
        throw Object.assign(new Error(value.message), { status, code: value.code });
      return value;
    },
  };
}
