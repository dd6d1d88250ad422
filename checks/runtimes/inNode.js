// What programs on Node do besides, and what Node itself may be told to refuse.
import { equal, failure } from "./checking.js";

/** Checks that only Node has. */
export const idioms = {
  async "reads no file that it may not read, and names the flag"({ client, received, id }) {
    if (process.permission?.has("fs.read", "/etc/hostname") !== false) return;
    const error = await failure(client.datasets.upload(id("denied"), "/etc/hostname"));
    equal([error.code, error.executed], ["INVALID_ARGUMENT", "no"]);
    equal(error.message.includes("--allow-fs-read=/etc/hostname"), true);
    equal(await received(id("denied")), []);
  },
};
