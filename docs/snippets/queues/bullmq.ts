import { Queue, UnrecoverableError, Worker } from "bullmq";
import { createClient, isStatusError } from "tunerank";
import { mayRepeat } from "tunerank/queues";

const client = createClient({ maxRetries: 0 }); // the queue repeats
const connection = { port: Number(process.env.REDIS_PORT ?? 6379) };
// An hour and a half, at most a minute apart.
const defaultJobOptions = {
  attempts: 100,
  backoff: { type: "capped" },
  removeOnComplete: { age: 24 * 3600, count: 10_000 },
  removeOnFail: { age: 7 * 24 * 3600, count: 100_000 },
};
const settings = {
  backoffStrategy: (attempts: number, _type?: string, error?: Error) =>
    Math.max(
      Math.min(250 * 2 ** attempts, 60_000),
      (isStatusError(error) && error.retryAfterMs) || 0,
    ),
};

export const rankings = new Queue("rankings", {
  connection,
  defaultJobOptions,
});
export const resumptions = new Queue("resumptions", {
  connection,
  defaultJobOptions,
});

async function orGiveUp<T>(queue: Queue, call: PromiseLike<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (!mayRepeat(error))
      throw new UnrecoverableError((error as Error).message);
    if (!isStatusError(error, "RESOURCE_EXHAUSTED")) throw error;
    // All workers pause, and the job has spent no attempt.
    await queue.rateLimit(error.retryAfterMs ?? 1_000);
    throw Worker.RateLimitError();
  }
}

export const workers = [
  new Worker(
    "rankings",
    ({ data }) => orGiveUp(rankings, client.rerank(data)),
    {
      connection,
      settings,
      concurrency: 16,
      limiter: { max: 100, duration: 1000 }, // of all workers together
    },
  ),
  new Worker(
    "resumptions",
    ({ data: { job } }) =>
      orGiveUp(resumptions, client.reinforcementFineTuningJobs.resume(job)),
    // A job whose worker died may have run: it fails, and is not run again.
    {
      connection,
      settings,
      limiter: { max: 10, duration: 1000 },
      maxStalledCount: 0,
    },
  ),
];
