import { afterAll, beforeAll, expect, test } from "vitest";
import { type EarlySetting, manners, uploadEarly } from "../support/earlyUploads.js";
import { expectNothingUnhandled } from "../support/unhandled.js";

// A write that fails once the response was read would end the process.
expectNothingUnhandled();

const before = process.env.NODE_TLS_REJECT_UNAUTHORIZED;
beforeAll(() => {
  Object.assign(process.env, { NODE_TLS_REJECT_UNAUTHORIZED: "0", TUNERANK_API_KEY: "test-key-0123" });
});
afterAll(() => {
  delete process.env.TUNERANK_API_KEY;
  if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
  else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before;
});

// The whole table is in test/all.
const settings: readonly EarlySetting[] = Object.keys(manners).map((manner, i) => ({
  secure: i % 4 !== 3,
  own: i % 2 === 1,
  keepAlive: i % 3 !== 0,
  manner,
}));

test.each(settings)(
  "a server responds to an upload with $manner (TLS: $secure, own agent: $own, keep-alive: $keepAlive): the call says so, and the process lives",
  async (setting) => {
    expect(await uploadEarly(setting, 4)).toEqual([]);
  },
);
