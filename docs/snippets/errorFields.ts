import { createClient, isStatusError } from "tunerank";

const client = createClient();

try {
  await client.reinforcementFineTuningJobs.resume("answer-quality");
} catch (error) {
  if (!isStatusError(error)) throw error;
  const { attempts, ...fields } = error.toJSON();
  console.log(JSON.stringify(fields, null, 2));
}
