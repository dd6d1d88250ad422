import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { transports } from "../../support/clients.js";
import { type Echo, useEchoServer } from "./support/echoServer.js";
import { settled } from "./support/failures.js";
import { holdsFor, plainClient, within } from "./support/runs.js";
import { hostileString } from "./support/strings.js";

const server = useEchoServer();
const bytes = new Uint8Array([1]);
// What busboy reads of a part's headers.
const longestHeader = 16_000;

// The rule, written once more in another way.
function usable(name: string): boolean {
  return name !== "" && !/^\.{1,2}$/.test(name) && /^[^\p{Cc}\p{Cs}]+$/u.test(name);
}

describe.each(transports)("over $name", ({ options }) => {
  test(
    "a file arrives with its base name, or is refused",
    async () => {
      const client = plainClient(server.url, options);
      server.requests = 0;
      let sent = 0;
      await holdsFor(hostileString, 5_000, async (name) => {
        const { value, error } = await settled(() => client.datasets.upload("reviews", bytes, { name }));
        const base = name.split(/[/\\]/).at(-1) ?? "";
        assert.equal(error === undefined, usable(base));
        if (error !== undefined) {
          assert.ok(error.code === "INVALID_ARGUMENT" && error.executed === "no");
          return;
        }
        sent += 1;
        if (Buffer.byteLength(base) > longestHeader) return;
        assert.equal((value as unknown as Echo).filename, base.replaceAll('"', "%22"));
      });
      assert.equal(server.requests, sent);
      await client.close();
    },
    within(300_000),
  );
});
