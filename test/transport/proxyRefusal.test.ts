import { HttpsProxyAgent } from "https-proxy-agent";
import { expect, test } from "vitest";
import { connect, failureOf } from "../support/clients.js";
import { useForwardProxy } from "../support/forwardProxy.js";

const proxy = useForwardProxy();

test.each([
  ["proxy", () => ({ proxy: proxy.url })],
  ["agent", () => ({ agent: new HttpsProxyAgent(proxy.url) })],
] as const)(
  "through the option %s a tunnel that the proxy rejects is no response: nothing was sent",
  async (_option, way) => {
    proxy.refusal = 403;
    const client = connect("https://service.invalid", way());
    expect(await failureOf(() => client.rerank({ query: "q", documents: ["d"] }))).toMatchObject({
      code: "PERMISSION_DENIED",
      executed: "no",
      executedBecause: "nothing-sent",
    });
  },
);
