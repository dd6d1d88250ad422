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

// Of so many outcomes, more refusals than answers: half as many jobs run at
// once, in all workers together. No refusal: twice as many.
let answers = 0;
let refusals = 0;
async function count(queue: Queue, isRefusal: boolean): Promise<void> {
  if (isRefusal) refusals += 1;
  else answers += 1;
  if (answers + refusals < 24) return;
  const factor = refusals > answers ? 0.5 : refusals === 0 ? 2 : 1;
  answers = refusals = 0;
  const most = await queue.getGlobalConcurrency();
  // Without a refusal there is no limit yet.
  if (factor === 1 || (factor === 2 && most === null)) return;
  const atOnce = (most ?? (await queue.getActiveCount())) * factor;
  await queue.setGlobalConcurrency(
    Math.min(Math.max(Math.floor(atOnce), 4), 256),
  );
}

async function orGiveUp<T>(queue: Queue, call: PromiseLike<T>): Promise<T> {
  try {
    const answer = await call;
    await count(queue, false);
    return answer;
  } catch (error) {
    // Nobody asks with a refused key: mend it, then call queue.resume().
    const isKey = isStatusError(error, "UNAUTHENTICATED");
    if (isKey) await queue.pause();
    else if (!mayRepeat(error))
      throw new UnrecoverableError((error as Error).message);
    const isFull = isStatusError(error, "RESOURCE_EXHAUSTED");
    if (isFull || isStatusError(error, "UNAVAILABLE")) {
      // All workers pause.
      await queue.rateLimit(error.retryAfterMs ?? 1_000);
      await count(queue, true);
    }
    // The job has spent no attempt.
    if (isKey || isFull) throw Worker.RateLimitError();
    throw error;
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
      limiter: { max: 10, duration: 100 }, // of all workers together
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
