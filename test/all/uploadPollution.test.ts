import { describe, expect, test } from "vitest";
import { sha256, useRecordingServer } from "../support/recordingServer.js";
import { runScript } from "../support/script.js";
import { useTemporaryFile } from "../support/temporaryFile.js";

const server = useRecordingServer();
const content = Buffer.alloc(1_200_000, "x");
const file = useTemporaryFile(content);

// What streams, their sources and the client's own objects may be asked for.
const names =
  "blob cancel cause check chunks closed code destroyed errored failed hint locked onDisk " +
  "position pull readableDidRead readableEnded replayable size start type";

const script = `
  import { createReadStream } from "node:fs";
  import { createClient } from "./src/index.ts";
  const own = process.env.TRANSPORT === "fetch" ? { fetch } : {};
  const client = createClient({ baseUrl: process.env.URL, accountId: "acme", maxRetries: 0, ...own });
  const { FILE } = process.env;
  const sources = [() => FILE, () => createReadStream(FILE), () => new Blob([new Uint8Array(9)]).stream()];
  // Whatever is loaded late is loaded now.
  await client.datasets.upload("clean", FILE);
  for (const name of process.env.NAMES.split(" ")) {
    for (const value of ["polluted", { polluted: true }, () => "polluted", 1]) {
      const files = sources.map((make) => make());
      Object.prototype[name] = value;
      try {
        for (const file of files) await client.datasets.upload(name, file, { name: "train.jsonl" });
      } catch (error) {
        delete Object.prototype[name];
        console.log(name, typeof value, error.message);
      }
      delete Object.prototype[name];
    }
  }
`;

describe.each(["node:http", "fetch"])("over %s", (transport) => {
  test("nothing on Object.prototype changes how paths and streams are uploaded", async () => {
    const { stdout, stderr } = await runScript(script, {
      URL: server.url,
      FILE: file,
      TRANSPORT: transport,
      NAMES: names,
    });
    expect({ stdout, stderr }).toEqual({ stdout: "", stderr: "" });
    const whole = sha256(content);
    const [clean, ...others] = server.requests.map(({ files }) => files[0]?.sha256);
    expect(clean).toBe(whole);
    const each = [whole, whole, sha256(new Uint8Array(9))];
    expect(others).toEqual(
      Array(names.split(" ").length * 4)
        .fill(each)
        .flat(),
    );
  });
});
