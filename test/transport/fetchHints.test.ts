import { expect, test } from "vitest";
import { connect, failureOf, transports } from "../support/clients.js";
import { refusingPort } from "../support/refusingPort.js";

test.each(transports)(
  "over $name a refused connection says that nothing listens there",
  async ({ options }) => {
    const nobody = await refusingPort();
    const error = await failureOf(() =>
      connect(nobody.url, options).rerank({ query: "q", documents: ["d"] }),
    );
    await nobody.close();
    expect(error).toMatchObject({ code: "UNAVAILABLE", executed: "no" });
    expect(error.hint).toContain("Nothing listens there");
  },
);
