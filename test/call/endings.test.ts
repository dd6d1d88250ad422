import { expect, test } from "vitest";
import { connect, failureOf, transports } from "../support/clients.js";
import { useTestClock } from "../support/clock.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { done, silence } from "../support/responses.js";
import { isPending, turns } from "../support/turns.js";

const server = useRecordingServer();
const clock = useTestClock();
const rerank = { query: "q", documents: ["d"] };

test.each(transports)(
  "over $name a signal ends the other calls also after one of its calls has ended",
  async ({ options }) => {
    const controller = new AbortController();
    const client = connect(server.url, options);
    server.reply(silence);
    const failed = failureOf(() => client.rerank(rerank, { signal: controller.signal }));
    await server.received();
    server.reply(done);
    await client.rerank(rerank, { signal: controller.signal });
    controller.abort();
    expect(await isPending(failed)).toBe(false);
    expect(await failed).toMatchObject({ code: "CANCELLED", executed: "unknown" });
  },
);

test.each(transports)(
  "over $name the deadline counts from the call's first line, not from its request",
  async ({ options }) => {
    server.reply(silence);
    let open = (_bytes: ArrayBuffer): void => {};
    const slow = new Promise<ArrayBuffer>((resolve) => {
      open = resolve;
    });
    const body = Object.assign(new Blob(["{}"]), { arrayBuffer: () => slow });
    const request = { method: "POST", path: "/v1/files", body, contentType: "text/plain" } as const;
    const failed = failureOf(() => connect(server.url, options).request(request, { timeoutMs: 30_000 }));
    await turns();
    clock.pass(20_000);
    open(new ArrayBuffer(2));
    await server.received();
    clock.pass(10_000);
    expect(await isPending(failed)).toBe(false);
    expect(await failed).toMatchObject({ code: "DEADLINE_EXCEEDED", executed: "unknown" });
  },
);
