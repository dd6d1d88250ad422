import { describe, expect, test } from "vitest";
import type { Counted, Rejected } from "../support/connectionCounts.js";
import { runScript } from "../support/script.js";

const newer = process.env.TUNERANK_TEST_NEWER_NODE;
const nodes = [process.execPath, ...(newer ? newer.split(",") : [])];

async function outputOf<T>(node: string, body: string): Promise<T> {
  const script = `
    import * as counts from "./test/support/connectionCounts.ts";
    const { countConnections, countRejected, routes } = counts;
    const results = [];
    ${body}
    console.log(JSON.stringify(results));
  `;
  const env = { NODE_TLS_REJECT_UNAUTHORIZED: "0", NODE_NO_WARNINGS: "1" };
  const { exitCode, stdout, stderr } = await runScript(script, env, { node });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  return JSON.parse(stdout) as T;
}

describe.each(nodes)("%s", (node) => {
  test("no more connections are opened than calls are in flight, however fast the server", async () => {
    const counted = await outputOf<Counted[]>(
      node,
      `for (const secure of [true, false]) for (const route of routes) for (const delayMs of [0, 1, 5])
        for (const inFlight of [1, 16, 64])
          results.push(await countConnections({ secure, route, inFlight, delayMs }, 20 + 10 * inFlight));`,
    );
    expect(counted).toHaveLength(54);
    expect(counted.filter(({ accepted, inFlight }) => accepted > inFlight)).toEqual([]);
  });

  test("large requests that are rejected unread hold no more connections than allowed", async () => {
    const rejected = await outputOf<Rejected[]>(
      node,
      `for (const secure of [true, false]) for (const own of [true, false])
        results.push(await countRejected(secure, own));`,
    );
    for (const { statuses, most, left } of rejected) {
      expect(statuses).toEqual(Array(12).fill(413));
      expect(most).toBeLessThanOrEqual(4);
      expect(left).toBe(0);
    }
  });
});
