import { truncate, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { useCountingServer } from "../support/countingServer.js";
import { temporaryFolder } from "../support/project.js";
import { runScript } from "../support/script.js";

const server = useCountingServer();

// A disk fails while the network is slow. Here the file is closed under the reader, in a process of its own.
test.runIf(process.platform === "linux")(
  "over node:http a file that cannot be read to its end is FAILED_PRECONDITION, and ends no process",
  async () => {
    server.listen((request) => {
      request
        .on("error", () => {})
        .on("data", () => {
          request.pause();
          setTimeout(() => request.resume(), 5);
        });
    });
    const { folder, remove } = await temporaryFolder();
    try {
      const file = path.join(folder, "train.jsonl");
      await writeFile(file, "");
      await truncate(file, 40 * 1024 * 1024);
      const script = `
        import { closeSync, readdirSync, readlinkSync } from "node:fs";
        import { createClient } from "./src/index.ts";
        const client = createClient({ baseUrl: process.env.URL, accountId: "a", maxRetries: 0 });
        let reports = 0;
        function onProgress() {
          if (++reports !== 3) return;
          for (const fd of readdirSync("/proc/self/fd")) {
            let target;
            try { target = readlinkSync("/proc/self/fd/" + fd) } catch {}
            if (target === process.env.FILE) closeSync(Number(fd));
          }
        }
        await client.datasets.upload("reviews", process.env.FILE, { onProgress }).catch((error) => {
          console.log(error.code, error.executed, error.cause?.code);
        });
      `;
      const { exitCode, stdout, stderr } = await runScript(script, { URL: server.url, FILE: file });
      expect({ exitCode, stdout, stderr }).toEqual({
        exitCode: 0,
        stdout: "FAILED_PRECONDITION unknown EBADF\n",
        stderr: "",
      });
    } finally {
      await remove();
    }
  },
);
