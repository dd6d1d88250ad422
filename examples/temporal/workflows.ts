import { proxyActivities } from "@temporalio/workflow";
import type { Activities } from "tunerank/temporal";

export { rerankMany } from "tunerank/temporal/workflows";

const times = { startToCloseTimeout: "15 minutes", heartbeatTimeout: "10 seconds" } as const;
const { scale, upload, resume } = proxyActivities<Activities>(times);

export const setReplicas = (deployment: string, replicas: number): Promise<void> =>
  scale(deployment, replicas);

export async function trainOn(dataset: string, file: string, job: string): Promise<string | undefined> {
  await upload(dataset, file);
  return (await resume(job)).state;
}
