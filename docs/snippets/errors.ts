import { createClient, isStatusError } from "tunerank";

const client = createClient();

try {
  await client.deployments.scale("missing", 1);
} catch (error) {
  if (!isStatusError(error)) throw error;
  if (error.executed === "no") console.log("Nothing was done.");
  if (error.code === "NOT_FOUND") console.log(error.message);
}
