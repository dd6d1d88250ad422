import { tracingChannel } from "node:diagnostics_channel";
import { type Attempt, createClient, type OperationId } from "tunerank";

type Trace = {
  operation: OperationId;
  attempts?: readonly Attempt[];
  error?: unknown;
};
const channel = tracingChannel<unknown, Trace>("tunerank.call");
const listeners = {
  start: ({ operation }: Trace) => console.log("start", operation),
  end() {},
  asyncStart() {},
  asyncEnd: ({ operation, attempts }: Trace) =>
    console.log("end", operation, attempts?.length),
  error: ({ operation, error }: Trace) =>
    console.log("failed", operation, error),
};
channel.subscribe(listeners);

const client = createClient();
await client.rerank({
  query: "capital of France",
  documents: ["Paris.", "Rome."],
});

channel.unsubscribe(listeners);
