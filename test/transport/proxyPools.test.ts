import { expect, test } from "vitest";
import { connect } from "../support/clients.js";
import { useForwardProxy } from "../support/forwardProxy.js";
import { useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();
const proxy = useForwardProxy();

// On Linux this address leads to this machine, and is none of those that never go through a proxy.
test.runIf(process.platform === "linux")(
  "a client with a proxy shares no connection with one without",
  async () => {
    const url = server.url.replace("127.0.0.1", "0.0.0.0");
    const rerank = { query: "q", documents: ["d"] };
    const direct = connect(url, { allowInsecureHttp: true });
    await direct.rerank(rerank);
    expect(proxy.seen).toHaveLength(0);
    const proxied = connect(url, { allowInsecureHttp: true, proxy: proxy.url });
    await proxied.rerank(rerank);
    expect(proxy.seen.map(({ method }) => method)).toEqual(["CONNECT"]);
    await Promise.all([direct.close(), proxied.close()]);
  },
);
