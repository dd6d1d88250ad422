// The figures of a bulk run: how fast it is, what it has sent, and how long it takes.
import type { RerankAllCounts } from "../../bulk/index.js";
import { counted, grouped } from "../terminal.js";

/** The counts of a bulk run so far. */
export interface Counts {
  /** Requests in the input; undefined if the input is a pipe. */
  requests: number | undefined;
  /** Requests that earlier runs have finished. */
  before: number;
  /** Requests among `before` that are invalid. */
  wrongBefore: number;
  /** Requests among `before` that were paid for without a usable result. */
  paidBefore: number;
  /** Requests among `before` that were ranked without documents which the service rejected. */
  partlyBefore: number;
  ranked: number;
  /** Requests among `ranked` without documents which the service rejected. */
  partly: number;
  /** Requests among `ranked` that were not sent, since another one asked the same. */
  copied: number;
  /** Requests that were sent although another one asks the same. */
  same: number;
  /** Requests that this run found to be invalid; those of earlier runs are counted in `before`. */
  wrong: number;
  /** Requests that ran, and so were paid for, without a usable result. They run again only with `--resend-paid`. */
  paid: number;
  /** Requests among `paid` that were not sent, since another one asked the same. */
  paidCopied: number;
  /** Requests that failed and run again on the next start. */
  failed: number;
  /** Lines that are no requests. */
  badLines: number;
  /** Invalid lines and failures that were counted, but not shown. */
  notShown: number;
}

/** What a run has sent so far. */
export type SentCounts = Omit<RerankAllCounts, "done">;

/** What the speed and the progress of a run are computed from. */
export interface Figures {
  readonly counts: Counts;
  readonly sent: SentCounts;
  /** How long the run has sent requests, in milliseconds. */
  readonly ms: number;
}

/** How many requests of the input are done: they have a row, and do not run again. */
export function doneOf({ before, ranked, wrong, paid }: Counts): number {
  return before + ranked + wrong + paid;
}

/** How many requests this run has finished, failed ones included. */
export function settled({ ranked, wrong, paid, failed }: Counts): number {
  return ranked + wrong + paid + failed;
}

function speedOf({ counts, ms }: Figures): { readonly perSecond: number; readonly leftMs?: number } {
  const perSecond = (settled(counts) / Math.max(1, ms)) * 1000;
  if (counts.requests === undefined) return { perSecond };
  const left = counts.requests - counts.before - settled(counts);
  if (left === 0) return { perSecond, leftMs: 0 };
  return perSecond > 0 ? { perSecond, leftMs: (left / perSecond) * 1000 } : { perSecond };
}

/** The figures for programs. The time left is missing if it cannot be estimated. */
export function figuresJson(figures: Figures): object {
  const { perSecond, leftMs } = speedOf(figures);
  const left = leftMs === undefined ? {} : { secondsLeft: Math.ceil(leftMs / 1000) };
  return { sent: figures.sent, rowsPerSecond: Math.round(perSecond * 10) / 10, ...left };
}

/** What a dry run found in the input, for programs and for people. */
export function leftOf(counts: Counts): { readonly facts: object; readonly line: string } {
  const { requests, before, wrong, wrongBefore, paidBefore, badLines } = counts;
  const left = settled(counts);
  const all = requests ?? left;
  const invalid = wrong === 0 ? "" : `, ${grouped(wrong)} of them invalid`;
  const others =
    badLines === 0
      ? ""
      : `; ${counted(badLines, "line")} without a valid request ${badLines === 1 ? "is" : "are"} skipped`;
  return {
    facts: { bulk: { requests: all, before, wrongBefore, paidBefore, left, wrong, badLines } },
    line: `${counted(all, "request")} in the input: ${grouped(before)} already done, ${grouped(left)} to do${invalid}${others}.`,
  };
}

/** The figures of a run that is over, for people. */
export function sentText(figures: Figures): string {
  const facts: string[] = sentFacts(figures.sent);
  // If no request was sent, a rate would say nothing about how fast the service is.
  if (figures.sent.requests > 0) facts.push(`${rateText(speedOf(figures).perSecond)} rows/s`);
  return `${facts.join(", ")}.`;
}

function sentFacts({ requests, retries, tokens }: SentCounts): [requests: string, tokens: string] {
  const ofThem = retries === 0 ? "" : ` (${grouped(retries)} ${retries === 1 ? "retry" : "retries"})`;
  return [`${counted(requests, "request")}${ofThem}`, counted(tokens, "token")];
}

function rateText(perSecond: number): string {
  return perSecond.toFixed(perSecond < 10 ? 1 : 0);
}

/**
 * The progress of a run on one line.
 * @param holdEnd Until when the service asks to wait
 * @param room How many columns there are. Facts that do not fit are left out, the least important first
 */
export function progressText(figures: Figures, holdEnd: number, room: number): string {
  const { counts, sent } = figures;
  const { requests, before, wrong, paid, failed, badLines } = counts;
  const all = grouped(before + settled(counts));
  const errors = wrong + paid + failed + badLines;
  const { perSecond, leftMs } = speedOf(figures);
  const facts = [
    requests === undefined ? all : `${all} of ${grouped(requests)}`,
    `${rateText(perSecond)}/s`,
    counted(errors, "error"),
  ];
  // The time left cannot be estimated during a pause that the service asked for.
  if (holdEnd > Date.now()) facts.push(`the service asks to wait until ${timeOfDay(holdEnd)}`);
  else if (leftMs !== undefined) facts.push(`${duration(leftMs)} left`);
  for (const fact of sentFacts(sent)) if ([...facts, fact].join("  ").length <= room) facts.push(fact);
  return facts.join("  ");
}

// Formats a time in local time, with the date if that is not today's.
function timeOfDay(ms: number): string {
  const at = new Date(Math.ceil(ms / 1000) * 1000);
  const time = at.toTimeString().slice(0, 8);
  if (at.toDateString() === new Date().toDateString()) return time;
  const [month, day] = [at.getMonth() + 1, at.getDate()].map((part) => `${part}`.padStart(2, "0"));
  return `${at.getFullYear()}-${month}-${day} ${time}`;
}

function duration(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  const rest = `${String(Math.floor(seconds / 60) % 60).padStart(2, "0")}:${String(seconds % 60).padStart(2, "0")}`;
  return seconds < 3600 ? rest : `${Math.floor(seconds / 3600)}:${rest}`;
}
