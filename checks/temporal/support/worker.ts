// A worker in a process of its own, which a test may kill. It reads and writes chunks as the guide does, in its folder.
import { DefaultLogger, NativeConnection, Runtime, Worker } from "@temporalio/worker";
import { createClient } from "tunerank";
import { createActivities } from "tunerank/temporal";
import * as chunks from "../documented/chunks.js";

const { ADDRESS, NAMESPACE, TASK_QUEUE, BUNDLE = "" } = process.env;

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
  activities: createActivities(createClient({ maxRetries: 0 }), { ...chunks }),
  // As in the guide: without it a cancellation takes up to 24 s to arrive.
  maxHeartbeatThrottleInterval: "2s",
});
const running = worker.run();
process.send?.("ready");
await running;
