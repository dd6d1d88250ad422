import { createClient } from "tunerank";

const client = createClient();

await client.deployments.scale("support-search", 2);

const { httpStatus } = await client.deployments
  .scale("support-search", 0)
  .withResponse();
console.log(httpStatus);
