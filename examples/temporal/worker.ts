import { fileURLToPath } from "node:url";
import { NativeConnection, Worker } from "@temporalio/worker";
import { createClient } from "tunerank";
import { createActivities } from "tunerank/temporal";
import * as chunks from "./chunks.js";

const worker = await Worker.create({
  connection: await NativeConnection.connect({ address: process.env.TEMPORAL_ADDRESS ?? "localhost:7233" }),
  namespace: process.env.TEMPORAL_NAMESPACE ?? "default",
  taskQueue: "tunerank",
  workflowsPath: fileURLToPath(import.meta.resolve("./workflows.js")), // workflows.ts under tsx
  activities: createActivities(createClient(), { ...chunks }),
  maxHeartbeatThrottleInterval: "2s", // so that a cancellation arrives soon
});
await worker.run();
