import { createClient, isStatusError } from "tunerank";

const client = createClient();

try {
  await client.deployments.scale("missing", 1);
} catch (error) {
  if (!isStatusError(error)) throw error;
  if (error.executed === "no") console.log(error.executedBecause);
  // It ends with what to do now: error.hint.
  console.log(error.message);
}
