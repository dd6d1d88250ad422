import { setImmediate as turn } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import type { ClientOptions, FetchLike } from "../../src/index.js";
import { connect, failureOf, transports } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { until } from "../support/turns.js";

const server = useRecordingServer();
const tooLarge = { code: "RESOURCE_EXHAUSTED", executed: "yes" };

const failed = (options: ClientOptions, maxResponseBytes: number) =>
  failureOf(() =>
    connect(server.url, options).request({ method: "GET", path: "/v1/all" }, { maxResponseBytes }),
  );

test("compressed bytes that decode to nothing count, too", async () => {
  // Each member of gzip takes 20 bytes, and decodes to none.
  const members = Buffer.concat(Array<Buffer>(20_000).fill(gzipSync("")));
  server.reply({ headers: { "content-encoding": "gzip" }, text: members });
  expect(await failed({}, 100_000)).toMatchObject(tooLarge);
});

test.each(transports)(
  "over $name the cap is that of the whole, in however many pieces it comes",
  async ({ options }) => {
    let sent = 0;
    server.reply((_request, response) => {
      const more = () => {
        if (sent++ < 30) response.write("x".repeat(100), () => setTimeout(more, 2));
        else response.end();
      };
      more();
      return undefined;
    });
    expect(await failed(options, 1000)).toMatchObject(tooLarge);
  },
);

test("a response that is too large is read no further, even if the fetch function heeds no signal", async () => {
  let [read, isCancelled] = [0, false];
  const fetch: FetchLike = async () =>
    new Response(
      new ReadableStream({
        async pull(controller) {
          await turn();
          controller.enqueue(new Uint8Array(100));
          if (++read === 200) controller.close();
        },
        cancel: () => {
          isCancelled = true;
        },
      }),
    );
  expect(await failed({ fetch }, 1000)).toMatchObject(tooLarge);
  await until(() => isCancelled || read === 200);
  expect(read).toBeLessThan(20);
});
