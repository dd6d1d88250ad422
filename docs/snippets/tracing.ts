import { tracingChannel } from "node:diagnostics_channel";
import { type CallTrace, createClient } from "tunerank";

const channel = tracingChannel<unknown, CallTrace>("tunerank.call");
const listeners = {
  start: ({ operation, method, path }: CallTrace) =>
    console.log("start", operation, method, path),
  end() {},
  asyncStart() {},
  asyncEnd: ({ operation, attempts }: CallTrace) =>
    console.log("end", operation, attempts?.length),
  error: ({ operation, error }: CallTrace) =>
    console.log("failed", operation, error),
};
channel.subscribe(listeners);

const client = createClient();
await client.rerank({
  query: "capital of France",
  documents: ["Paris.", "Rome."],
});

channel.unsubscribe(listeners);
