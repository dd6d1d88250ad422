// A worker in a process of its own, which a test may kill. It reads and writes chunks in a folder.
import { readFile, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { DefaultLogger, NativeConnection, Runtime, Worker } from "@temporalio/worker";
import { createClient } from "tunerank";
import { type ChunkRequest, createActivities } from "tunerank/temporal";

const { ADDRESS, NAMESPACE, TASK_QUEUE, BUNDLE = "", FOLDER = "", RATE } = process.env;

Runtime.install({
  logger: new DefaultLogger("ERROR"),
  telemetryOptions: { logging: { filter: "ERROR", forward: {} } },
});
const connection = await NativeConnection.connect({ address: ADDRESS ?? "" });
const worker = await Worker.create({
  connection,
  namespace: NAMESPACE ?? "",
  taskQueue: TASK_QUEUE ?? "",
  workflowBundle: { codePath: BUNDLE },
  activities: createActivities(createClient({ maxRetries: 0 }), {
    async readChunk(n, list = ""): Promise<ChunkRequest[]> {
      return JSON.parse(await readFile(path.join(FOLDER, list, `in-${n}.json`), "utf8"));
    },
    async writeChunk(n, results, list = "") {
      const file = path.join(FOLDER, list, `out-${n}.json`);
      // Whole or not at all: a worker may be killed while it writes.
      await writeFile(`${file}.${process.pid}`, JSON.stringify(results));
      await rename(`${file}.${process.pid}`, file);
    },
  }),
  ...(RATE && { maxTaskQueueActivitiesPerSecond: Number(RATE) }),
});
const running = worker.run();
process.send?.("ready");
await running;
