import { createClient } from "tunerank";

const client = createClient();
const path = "/v1/accounts/acme/notes/first draft";

// JSON, in a POST that is safe to send twice.
await client.request(
  { method: "POST", path: `${path}:touch`, body: { by: "me" } },
  { repeatable: true },
);

// Bytes need a media type; the answer's type decides how it is read.
const bytes = await client.request<Uint8Array>({
  method: "PUT",
  path,
  query: { view: "full", tag: ["a", "b"] },
  body: new Uint8Array([1, 2, 3]),
  contentType: "application/octet-stream",
  accept: "application/octet-stream",
});
console.log(bytes.byteLength);
