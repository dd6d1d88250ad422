import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Agent } from "undici";
import { afterEach, expect, test } from "vitest";
import { useNoBackoff } from "../support/backoff.js";
import { connect, transports } from "../support/clients.js";
import { goodText } from "../support/responses.js";

useNoBackoff();

const ended: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0)) await end();
});

const ways = [
  ...transports,
  {
    name: "a dispatcher",
    get options() {
      const dispatcher = new Agent();
      ended.push(() => dispatcher.destroy());
      return { dispatcher };
    },
  },
];

test.each(ways)(
  "over $name 103 is no response: a connection that then breaks is retried",
  async ({ options }) => {
    let requests = 0;
    const server = createServer((request, response) => {
      requests += 1;
      request.resume();
      if (requests > 1) response.end(goodText);
      else
        response.writeEarlyHints({ link: "</a>; rel=preload" }, () =>
          setTimeout(() => response.destroy(), 50),
        );
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    ended.push(() => server.close());
    const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, {
      ...options,
      maxRetries: 1,
    });
    ended.push(() => client.close());
    const { attempts } = await client.rerank({ query: "q", documents: ["d"] }).withResponse();
    expect(attempts).toMatchObject([{ code: "UNAVAILABLE" }, { httpStatus: 200 }]);
    expect(attempts[0]).not.toHaveProperty("httpStatus");
  },
);
