import { createClient, isStatusError, throwIfFailed } from "tunerank";

const client = createClient();

try {
  throwIfFailed(
    await client.reinforcementFineTuningJobs.resume("answer-quality"),
  );
} catch (error) {
  if (!isStatusError(error)) throw error;
  console.log(error.message);
  console.log(error.executed);
}
