import assert from "node:assert/strict";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createOpenapiClient } from "../../../src/adapters/openapiFetch.js";
import { type FetchLike, isStatusError } from "../../../src/index.js";
import { holdsFor, inOneRead, plainClient, within } from "./support/runs.js";
import { hostileString } from "./support/strings.js";

const address = "https://api.example.com";
const cases = fc.record({ id: hostileString, value: hostileString.map((long) => long.slice(0, 200)) });
const received: string[] = [];
const recording: FetchLike = async (url) => {
  received.push(url);
  return { status: 200, headers: new Map(), body: inOneRead("") };
};

interface Document {
  "/v1/things/{id}:look": {
    get: { parameters: { path: { id: string }; query: { value: string } }; responses: { 200: object } };
  };
}

// The rules of ids, written once more in another way.
function isUsable(id: string): boolean {
  return id.length <= 256 && !/^\.{1,2}$/.test(`${id}`) && /^[^/\\?#%\p{Cc}\p{Cs}]+$/u.test(id);
}

test(
  "a parameter of openapi-fetch goes to exactly its place in the path or the query, or nowhere",
  async () => {
    const api = createOpenapiClient<Document>(plainClient(address, { fetch: recording }));
    let sent = 0;
    const holds = async ({ id, value }: { id: string; value: string }): Promise<void> => {
      try {
        await api.GET("/v1/things/{id}:look", { params: { path: { id }, query: { value } } });
      } catch (error) {
        if (!isStatusError(error, "INVALID_ARGUMENT") || error.executed !== "no") throw error;
        assert.ok(!isUsable(id) || /\p{Cs}/u.test(value) || id.length > 251, id);
        return;
      }
      sent += 1;
      const url = new URL(received.pop() ?? "");
      assert.equal(url.origin, address);
      assert.deepEqual(url.pathname.split("/").map(decodeURIComponent), ["", "v1", "things", `${id}:look`]);
      assert.deepEqual([...url.searchParams], [["value", value]]);
    };
    await holdsFor(cases, 20_000, holds, 1);
    expect(sent).toBeGreaterThan(0);
    expect(received).toEqual([]);
  },
  within(300_000),
);
