// What programs on Deno do: with no more permissions than their calls need.
import { rerankAll } from "tunerank/bulk";
import { createTestService } from "tunerank/testing";
import { equal, failure } from "./checking.js";

const key = "TUNERANK_API_KEY";
const mayRead = () => Deno.permissions.querySync({ name: "env", variable: key }).state === "granted";

/** Checks that only Deno has. */
export const idioms = {
  async "takes an environment that it may not read for an empty one"({ createClient, received, id, place }) {
    const { baseUrl } = place;
    const client = createClient({ baseUrl });
    const call = client.rerank({ query: id("environment"), documents: ["d"] });
    if (mayRead()) {
      await call;
      equal((await received(id("environment")))[0].authorization, `Bearer ${Deno.env.get(key)}`);
    } else {
      const error = await failure(call);
      equal([error.code, error.executed], ["INVALID_ARGUMENT", "no"]);
      equal(error.message.includes("apiKey is missing."), true);
      equal(error.hint.includes(`--allow-env=${key}`), true);
    }
  },
  async "names every variable that is missing, with one flag"({ createClient }) {
    if (mayRead()) return;
    const error = await failure(createClient().deployments.scale("d", 0));
    equal(error.hint.includes(`--allow-env=TUNERANK_BASE_URL,${key},TUNERANK_ACCOUNT_ID`), true);
  },
  async "opens no path that it may not read, and names the flag"({ client, received, id }) {
    if (Deno.permissions.querySync({ name: "read", path: "/etc/hostname" }).state === "granted") return;
    const error = await failure(client.datasets.upload(id("denied"), "/etc/hostname"));
    equal([error.code, error.executed], ["INVALID_ARGUMENT", "no"]);
    equal(error.message.includes("--allow-read=/etc/hostname"), true);
    equal(await received(id("denied")), []);
  },
  async "uploads Deno.open().readable"({ client, received, id, place }) {
    const { readable } = await Deno.open(place.path);
    const { size } = await Deno.stat(place.path);
    await client.datasets.upload(id("open"), readable, { name: "train.jsonl", size });
    const [{ file, length }] = await received(id("open"));
    equal([file.name, file.bytes], ["train.jsonl", size]);
    equal(Number(length) > size, true);
  },
  async "ranks in bulk, and gets responses of the mock server in memory and on a port"({ createClient }) {
    const service = createTestService();
    const { url, close } = await service.listen();
    try {
      for (const own of [{ baseUrl: url }, { baseUrl: "https://api.example.com", fetch: service.fetch }]) {
        const client = createClient({ ...own, apiKey: "runtime-key" });
        const requests = [{ id: "1", query: "q", documents: ["d"] }];
        for await (const { error } of rerankAll(client, requests)) equal(String(error), "undefined");
      }
    } finally {
      await close();
    }
    equal(service.requests.length, 2);
  },
  async "gets a response of Deno.serve"({ createClient }) {
    const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
      const { documents } = await request.json();
      return Response.json({ data: documents.map((_, index) => ({ index, relevance_score: 0.5 })) });
    });
    const client = createClient({ baseUrl: `http://127.0.0.1:${server.addr.port}`, apiKey: "runtime-key" });
    const ranked = client.rerank({ query: "q", documents: ["a", "b"] });
    const { data } = await ranked.finally(() => server.shutdown());
    equal(data.length, 2);
  },
};
