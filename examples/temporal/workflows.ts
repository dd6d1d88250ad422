import { proxyActivities } from "@temporalio/workflow";
import type { Activities } from "tunerank/temporal";

export { rerankMany } from "tunerank/temporal/workflows";

const { scale, upload, resume } = proxyActivities<Activities>({
  startToCloseTimeout: "15 minutes",
  scheduleToCloseTimeout: "2 hours",
  heartbeatTimeout: "10 seconds",
});

export const setReplicas = (deployment: string, replicas: number): Promise<void> =>
  scale(deployment, replicas);

export async function trainOn(dataset: string, file: string, job: string): Promise<string | undefined> {
  await upload(dataset, file);
  return (await resume(job)).state;
}
