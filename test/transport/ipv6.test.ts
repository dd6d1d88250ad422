import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { networkInterfaces } from "node:os";
import { expect, test } from "vitest";
import { connect, transports } from "../support/clients.js";
import { goodText } from "../support/responses.js";

const hasIpv6 = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ address }) => address === "::1"),
);

test.runIf(hasIpv6).each(transports)(
  "over $name a base URL may have an IPv6 address",
  async ({ options }) => {
    const server = createServer(
      (request, response) => void request.resume().on("end", () => response.end(goodText)),
    );
    await once(server.listen(0, "::1"), "listening");
    const client = connect(`http://[::1]:${(server.address() as AddressInfo).port}`, options);
    expect((await client.rerank({ query: "q", documents: ["d"] })).data).toHaveLength(1);
    await client.close();
    server.close();
  },
);
