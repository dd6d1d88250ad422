import { createClient, isStatusError } from "tunerank";

const client = createClient();
const upload = () =>
  client.datasets.upload("support-answers", "examples/train.jsonl");

try {
  await upload();
} catch (error) {
  if (!isStatusError(error) || error.executed === "no") throw error;
  // It may have been stored: the service's own documentation says where to look.
  const { files } = await client.request<{ files: { filename: string }[] }>(
    {
      method: "GET",
      path: "/v1/accounts/acme/datasets/support-answers",
    },
  );
  const stored = files.some(({ filename }) => filename === "train.jsonl");
  console.log(stored ? "it is there" : "uploaded once more");
  if (!stored) await upload();
}
