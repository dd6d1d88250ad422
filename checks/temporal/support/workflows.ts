// What Temporal's bundler is given: the package's workflow, and one for each activity.
import { proxyActivities } from "@temporalio/workflow";
import type { RerankRequest } from "tunerank";
import type { Activities } from "tunerank/temporal";

export { rerankMany } from "tunerank/temporal/workflows";

// No retry policy: Temporal's default repeats for ever.
const { rerank, scale, resume, upload } = proxyActivities<Activities>({
  startToCloseTimeout: "20 s",
  heartbeatTimeout: "2 s",
});
// Neither does it hear from its worker, until its time is over.
const silent = proxyActivities<Activities>({ startToCloseTimeout: "4 s" });

export const rerankOnce = (request: RerankRequest) => rerank(request);
export const scaleOnce = (id: string, replicas: number) => scale(id, replicas);
export const resumeOnce = (id: string) => resume(id);
export const uploadOnce = (id: string, file: string) => upload(id, file);
export const resumeSilently = (id: string) => silent.resume(id);
export const rerankSilently = (request: RerankRequest) => silent.rerank(request);
