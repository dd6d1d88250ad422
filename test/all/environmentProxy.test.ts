import { writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { certificate } from "../support/certificate.js";
import { useForwardProxy } from "../support/forwardProxy.js";
import { temporaryFolder } from "../support/project.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { runScript } from "../support/script.js";
import { useSecureServer } from "../support/secureServer.js";

// This Node where it has the feature, else one that is named for this test.
const node = process.allowedNodeEnvironmentFlags.has("--use-env-proxy")
  ? process.execPath
  : process.env.TUNERANK_TEST_NEWER_NODE;
const skipped = node ? "" : " (skipped: needs Node 24, this one or one named by TUNERANK_TEST_NEWER_NODE)";

const proxy = useForwardProxy();
const plain = useRecordingServer();
const secure = useSecureServer();

const script = `
  import { createClient } from "./src/index.ts";
  const client = createClient({ baseUrl: process.env.URL, accountId: "a", maxRetries: 0 });
  await client.rerank({ query: "q", documents: ["d"] });
  await client.datasets.upload("reviews", "package.json");
  await client.close();
  console.log("done");
`;

describe.skipIf(!node)(`NODE_USE_ENV_PROXY${skipped}`, () => {
  const runWith = (env: Record<string, string>) => runScript(script, env, { node: node ?? "" });
  const done = { exitCode: 0, stdout: "done\n" };

  test("sends plain http through HTTP_PROXY", async () => {
    const env = { URL: plain.url, HTTP_PROXY: proxy.url, NODE_USE_ENV_PROXY: "1", NO_PROXY: "" };
    expect(await runWith(env)).toMatchObject(done);
    expect(plain.requests).toHaveLength(2);
    expect(proxy.seen.map(({ target }) => target)).toEqual(plain.requests.map(({ url }) => plain.url + url));
  });

  test("sends https through HTTPS_PROXY, whole and unseen", async () => {
    const { folder, remove } = await temporaryFolder();
    try {
      const authority = path.join(folder, "ca.pem");
      await writeFile(authority, certificate);
      const env = { URL: secure.url, HTTPS_PROXY: proxy.url, NODE_USE_ENV_PROXY: "1", NO_PROXY: "" };
      expect(await runWith({ ...env, NODE_EXTRA_CA_CERTS: authority })).toMatchObject(done);
      expect(secure.requests).toHaveLength(2);
      // The rerank's, and the upload's: one that may not be sent twice takes a new connection.
      const tunnel = { method: "CONNECT", target: `localhost:${secure.port}` };
      expect(proxy.seen).toMatchObject([tunnel, tunnel]);
    } finally {
      await remove();
    }
  });

  test("leaves alone what NO_PROXY names", async () => {
    const env = { URL: plain.url, HTTP_PROXY: proxy.url, NODE_USE_ENV_PROXY: "1", NO_PROXY: "127.0.0.1" };
    expect(await runWith(env)).toMatchObject(done);
    expect(plain.requests).toHaveLength(2);
    expect(proxy.seen).toEqual([]);
  });

  test("that is not set sends nothing through HTTP_PROXY", async () => {
    const env = { URL: plain.url, HTTP_PROXY: proxy.url, NODE_USE_ENV_PROXY: "", NO_PROXY: "" };
    expect(await runWith(env)).toMatchObject(done);
    expect(plain.requests).toHaveLength(2);
    expect(proxy.seen).toEqual([]);
  });
});
