import { createClient } from "tunerank";

const client = createClient();

type Dataset = { name: string; exampleCount?: string };

const dataset = await client.request<Dataset>({
  method: "GET",
  path: "/v1/accounts/acme/datasets/support-answers",
});
console.log(dataset.exampleCount);
