// Services whose limit or speed changes, by load, in time or by the request. The published matrix has no cells of them:
// the simulation has, and `--judged` runs some on sockets.
import { atOnce, hashed, perSecond, queue, tooMany } from "./rules.js";
import type { Service } from "./services.js";

const halved = (ms: number): number => (ms > 3_000 && ms < 8_000 ? 32 : 64);
// What a stranger leaves of 40.
const leftByStranger = (ms: number): number => (Math.floor(ms / 4_000) % 2 === 0 ? 30 : 10);
const wokenMs = 10_000;
const eachReplica = 4;
// 1, 2, 4 ... replicas, the first after ten seconds and the last after a minute.
const replicas = (ms: number): number => (ms < wokenMs ? 0 : 2 ** Math.min(5, Math.floor(ms / wokenMs) - 1));
// Half a second of each three, at a random time.
const inBurst = (ms: number, seed: number): boolean => {
  const from = 2_500 * hashed(Math.floor(ms / 3_000), seed);
  return ms % 3_000 >= from && ms % 3_000 < from + 500;
};
const tokensASecond = 60_000;
// From 50 to 5,000.
const tokensOf = (row: number): number => Math.round(50 * 100 ** hashed(row));

export const changingServices: readonly Service[] = [
  { name: "a queue with one server", responseMs: 50, open: () => queue(1, 50), known: { atOnce: () => 2 } },
  {
    name: "a queue with 16 servers",
    responseMs: 200,
    open: () => queue(16, 200),
    known: { atOnce: () => 18 },
  },
  {
    name: "64 at once, half of it for 5 s",
    responseMs: 500,
    isChanging: true,
    open: () => atOnce(halved),
    known: { atOnce: halved },
  },
  {
    name: "40 at once, shared with a stranger",
    responseMs: 200,
    isChanging: true,
    open: () => atOnce(leftByStranger),
    known: { atOnce: leftByStranger },
  },
  {
    name: "woken from zero replicas",
    responseMs: 200,
    isChanging: true,
    open:
      () =>
      ({ active, ms }) => {
        if (active > eachReplica * Math.max(1, replicas(ms))) return tooMany;
        return ms < wokenMs ? { afterMs: wokenMs - ms + 200 } : undefined;
      },
    known: { atOnce: (ms) => eachReplica * Math.max(1, replicas(ms)) },
  },
  {
    name: "50 a second, 429 with Retry-After as a date",
    responseMs: 200,
    open: () => perSecond(50, { ...tooMany, retryAfter: 1, isDate: true }),
    known: { perSecond: 50 },
  },
  {
    name: "429s in bursts of 0.5 s",
    responseMs: 1_000,
    isChanging: true,
    open:
      (seed = 7) =>
      ({ ms }) =>
        inBurst(ms, seed) ? tooMany : undefined,
    known: { atOnce: (ms, seed) => (inBurst(ms, seed) ? 0 : Number.POSITIVE_INFINITY) },
  },
  {
    name: "3,600,000 tokens a minute, 50 to 5,000 a request",
    responseMs: 200,
    open: () => perSecond(tokensASecond, tooMany, tokensOf),
    known: { perSecond: tokensASecond, tokensOf },
  },
  {
    name: "one response of 66 takes 50 times as long",
    responseMs: 200,
    open:
      (seed = 7) =>
      ({ row }) => ({ afterMs: hashed(row, seed) < 0.015 ? 10_000 : 100 + 200 * hashed(row, seed + 1) }),
  },
];
