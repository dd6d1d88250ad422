import { NativeConnection, Worker } from "@temporalio/worker";
import { createClient } from "tunerank";
import { createActivities } from "tunerank/temporal";
import { readChunk, writeChunk } from "./chunks.js";

const worker = await Worker.create({
  connection: await NativeConnection.connect({ address: process.env.TEMPORAL_ADDRESS ?? "localhost:7233" }),
  namespace: process.env.TEMPORAL_NAMESPACE ?? "default",
  taskQueue: "tunerank",
  workflowsPath: new URL("workflows.ts", import.meta.url).pathname,
  activities: createActivities(createClient(), { readChunk, writeChunk }),
  maxTaskQueueActivitiesPerSecond: 50, // of all workers together
});
await worker.run();
