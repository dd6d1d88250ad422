import { createClient } from "tunerank";

const client = createClient();

const { data, httpStatus, headers, requestId, attempts } = await client
  .rerank({ query: "capital of France", documents: ["Paris.", "Rome."] })
  .withResponse();
console.log(
  httpStatus,
  headers["content-type"],
  requestId,
  attempts.length,
  data.data.length,
);
