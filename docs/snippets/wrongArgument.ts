import { createClient, isStatusError } from "tunerank";

const client = createClient();

try {
  await client.deployments.scale(
    "accounts/acme/deployments/support-search",
    1,
  );
} catch (error) {
  if (!isStatusError(error)) throw error;
  console.log(error.message);
  console.log(error.executed, error.attempts.length);
}
