// What programs on Node do besides, and what Node itself may be told to refuse.
import { Agent } from "node:http";
import { pathToFileURL } from "node:url";
import { createTestService } from "tunerank/testing";
import { equal, failure } from "./checking.js";

const rerank = (id) => ({ query: id, documents: ["d"] });
const [major] = process.versions.node.split(".").map(Number);

const dispatchers = [1, 2].map((version) => Symbol.for(`undici.globalDispatcher.${version}`));

// With that version's MockAgent as a unit test sets it.
async function withMocks(place, version, use) {
  const module = pathToFileURL(`${place.modules}undici-${version}/index.js`).href;
  const { default: undici } = await import(module);
  const before = dispatchers.map((name) => globalThis[name]);
  const mocks = new undici.MockAgent();
  mocks.disableNetConnect();
  undici.setGlobalDispatcher(mocks);
  try {
    await use(undici, mocks);
  } finally {
    // The fetch of Node 22 cannot use what undici 8 would set.
    for (const [index, name] of dispatchers.entries()) globalThis[name] = before[index];
    await mocks.close();
  }
}

// undici 8 needs Node 22.19.
const versions = major < 22 ? [7] : [7, 8];

const mocked = (version) => ({
  async [`sends nothing past the MockAgent of undici ${version}`]({ make, received, id, place }) {
    // An address of this machine that does not say so.
    const outside = { baseUrl: place.baseUrl.replace("127.0.0.1", "0.0.0.0"), allowInsecureHttp: true };
    const agent = new Agent();
    const mockedId = id(`mocked${version}`);
    await withMocks(place, version, async (undici, mocks) => {
      const error = await failure(make(outside).rerank(rerank(mockedId)));
      equal([error.code, error.executed, error.attempts], ["INTERNAL", "no", []]);
      equal(error.message.includes("Mock dispatch not matched"), true);
      const service = createTestService();
      await make({ ...outside, fetch: service.fetch }).rerank(rerank(mockedId));
      equal(service.requests.length, 1);
      const response = { data: [{ index: 0, relevance_score: 0.5 }] };
      const prepared = mocks.get("https://api.example.com");
      prepared.intercept({ path: "/inference/v1/rerank", method: "POST" }).reply(200, response);
      prepared.intercept({ path: "/inference/v1/rerank", method: "POST" }).reply(200, response);
      prepared.intercept({ path: "/inference/v1/rerank", method: "POST" }).reply(200, response);
      const baseUrl = "https://api.example.com";
      for (const ways of [{}, { fetch: undici.fetch }, { dispatcher: mocks }])
        equal(await make({ baseUrl, ...ways }).rerank(rerank(mockedId)), response);
      await make({ ...outside, agent }).rerank(rerank(id(`agent${version}`)));
      await make({}).rerank(rerank(id(`loopback${version}`)));
      mocks.deactivate();
      await make(outside).rerank(rerank(id(`off${version}`)));
    });
    agent.destroy();
    equal((await received(mockedId)).length, 0);
    for (const name of ["agent", "loopback", "off"])
      equal((await received(id(`${name}${version}`))).length, 1);
  },
});

/** Checks that only Node has. */
export const idioms = {
  ...Object.assign({}, ...versions.map(mocked)),
  async "reads no file that it may not read, and names the flag"({ client, received, id }) {
    if (process.permission?.has("fs.read", "/etc/hostname") !== false) return;
    const error = await failure(client.datasets.upload(id("denied"), "/etc/hostname"));
    equal([error.code, error.executed], ["INVALID_ARGUMENT", "no"]);
    equal(error.message.includes("--allow-fs-read=/etc/hostname"), true);
    equal(await received(id("denied")), []);
  },
};
