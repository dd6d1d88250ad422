import type { ActivityFailure, ApplicationFailure, WorkflowFailedError } from "@temporalio/client";
import type { CallFailure } from "tunerank/temporal";
import { client, connection } from "./temporal.js";

const args = ["reviews", "train.jsonl", "answer-quality"];
const training = client.workflow.execute("trainOn", { taskQueue: "tunerank", workflowId: "train", args });
await training.then(console.log, (error: WorkflowFailedError) => {
  const { details, message } = (error.cause as ActivityFailure).cause as ApplicationFailure;
  // "unknown": it may have run, so look before you start it again.
  console.error((details as [CallFailure])[0].executed, message);
});
await connection.close();
