import { Queue, UnrecoverableError, Worker } from "bullmq";
import { createClient, isStatusError } from "tunerank";
import { mayRepeat } from "tunerank/queues";

const client = createClient();
const connection = { port: Number(process.env.REDIS_PORT ?? 6379) };
const defaultJobOptions = { attempts: 10, backoff: { type: "asked" } };

export const rankings = new Queue("rankings", {
  connection,
  defaultJobOptions,
});
export const resumptions = new Queue("resumptions", {
  connection,
  defaultJobOptions,
});

// No sooner than the service asks.
const settings = {
  backoffStrategy: (attempts: number, _type?: string, error?: Error) =>
    (isStatusError(error) && error.retryAfterMs) || 250 * 2 ** attempts,
};

async function orGiveUp<T>(call: PromiseLike<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (mayRepeat(error)) throw error;
    throw new UnrecoverableError((error as Error).message);
  }
}

export const workers = [
  new Worker("rankings", ({ data }) => orGiveUp(client.rerank(data)), {
    connection,
    settings,
    concurrency: 16,
    limiter: { max: 100, duration: 1000 }, // of all workers together
  }),
  new Worker(
    "resumptions",
    ({ data }) =>
      orGiveUp(client.reinforcementFineTuningJobs.resume(data.job)),
    // A job whose worker died may have run: it fails, and is not run again.
    { connection, settings, maxStalledCount: 0 },
  ),
];
