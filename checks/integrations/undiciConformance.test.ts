// The rows of `tunerank conformance` over the dispatchers of undici 7 and 8; the client is that of the source.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const root = fileURLToPath(new URL("../..", import.meta.url));
const command = fileURLToPath(new URL("node_modules/tunerank/dist/cli/main.js", import.meta.url));

// What no dispatcher shows (a 100 or 101, the alert of a server that wants a certificate, which connection a request
// takes), and what is the dispatcher's own: proxies of the environment, and how long it waits for a tunnel.
const own = ["proxy-environment", "tunnel-timeout"];
const hidden = ["ca-certificate", "connections", ...own, "status-100", "status-101", "two-programs"].sort();

const certify = (undici: string) => `
  import { certifyOverUndici } from "./test/support/conformance/overUndici.ts";
  import undici from "./checks/integrations/node_modules/${undici}/index.js";
  await certifyOverUndici(process.argv[1], undici);`;

for (const undici of ["undici-7", "undici-8"])
  test(`over a dispatcher of ${undici} every row passes that it lets through`, async () => {
    const runner = spawn(process.execPath, [
      command,
      "conformance",
      "--port",
      "0",
      "--json",
      "--except",
      "exchanges/default-",
    ]);
    const report = text(runner.stdout);
    const [line] = (await once(runner.stderr, "data")) as [Buffer];
    const { url } = JSON.parse(`${line}`.split("\n")[0] ?? "") as { url: string };
    const options = ["--conditions=tunerank-source", "--import", "tsx", "--input-type=module"];
    const program = [...options, "--eval", certify(undici), url];
    await promisify(execFile)(process.execPath, program, { cwd: root });
    const { rows, skippedFor } = JSON.parse(await report) as {
      rows: { result: string }[];
      skippedFor: Record<string, number>;
    };
    assert.deepEqual(
      rows.filter(({ result }) => result === "failed"),
      [],
    );
    const lacking = Object.keys(skippedFor).filter((name) => !name.startsWith("this machine"));
    assert.deepEqual(lacking.sort(), hidden);
  });
