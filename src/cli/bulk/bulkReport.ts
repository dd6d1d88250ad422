import type { RerankAllAttempt } from "../../bulk/index.js";
import { type OutOfFiles, outOfFiles } from "../../policy/limiter.js";
import { jsonLine, oneLine } from "../safeText.js";
import { bar, type Terminal } from "../terminal.js";

const redrawMs = 100;
const noteMs = 10_000;
const mostNoted = 50;

const fewerAtOnce: Readonly<Record<OutOfFiles, string>> = {
  EMFILE:
    "This process may open no more files and sockets (EMFILE): fewer requests run at once. Allow more with `ulimit -n`, or use a lower --concurrency.",
  ENFILE:
    "This machine can open no more files and sockets (ENFILE): fewer requests run at once. End other programs, or raise fs.file-max.",
};

/** What a run has come to. */
export interface Counts {
  /** Requests there are, where the input is a file. */
  requests: number | undefined;
  /** Done by earlier runs. */
  before: number;
  ranked: number;
  /** Requests that are wrong; those of earlier runs are among `before`. */
  wrong: number;
  /** Requests that failed and run again on the next start. */
  failed: number;
  /** Lines that are no requests. */
  badLines: number;
}

/** Tells people how far a run is. */
export interface Report {
  readonly counts: Counts;
  /** Tells of something that is wrong; the first of many only. */
  note(line: string): void;
  /** Notes for how long the service asks to wait, and whether this machine can make no more requests at once. */
  attempted(event: Pick<RerankAllAttempt<unknown>, "holdMs" | "cause">): void;
  /** Shows the counts, not too often. */
  update(): void;
  end(): void;
}

/** Shows a bar on a terminal, and a line every ten seconds elsewhere. */
export function createReport(terminal: Terminal, counts: Counts): Report {
  const started = performance.now();
  const isDrawn = terminal.errorColumns > 0 && !terminal.quiet && !terminal.json;
  const isNoted = !isDrawn && !terminal.quiet && !terminal.json;
  let shownAt = isDrawn ? Number.NEGATIVE_INFINITY : started;
  let noted = 0;
  let heldUntil = 0;
  let isLimited = false;
  const note = (line: string): void => {
    if (isDrawn) terminal.redraw("");
    terminal.note(oneLine(line));
  };
  const hold = (now: number, holdMs: number): void => {
    // The first of several, which may be the only one for an hour, is shown at once.
    if (now - heldUntil > noteMs) shownAt = Number.NEGATIVE_INFINITY;
    heldUntil = Math.max(heldUntil, now + holdMs);
  };
  return {
    counts,
    note(line) {
      noted += 1;
      if (noted > mostNoted) return;
      note(line);
      if (noted === mostNoted) terminal.note("More of these are not shown.");
    },
    attempted({ holdMs = 0, cause }) {
      const code = outOfFiles(cause);
      if (code !== undefined && !isLimited) note(fewerAtOnce[code]);
      isLimited ||= code !== undefined;
      if (holdMs > 0) hold(Date.now(), holdMs);
    },
    update() {
      const now = performance.now();
      if (!(isDrawn || isNoted) || now - shownAt < (isDrawn ? redrawMs : noteMs)) return;
      shownAt = now;
      const facts = factsOf(counts, now - started, heldUntil);
      if (isDrawn) terminal.redraw(withBar(facts, counts, terminal));
      else terminal.note(facts);
    },
    end() {
      if (isDrawn) terminal.redraw("");
    },
  };
}

function settled({ ranked, wrong, failed }: Counts): number {
  return ranked + wrong + failed;
}

function factsOf(counts: Counts, ms: number, heldUntil: number): string {
  const { requests, before, wrong, failed, badLines } = counts;
  const rate = settled(counts) / Math.max(1, ms);
  const all = before + settled(counts);
  const errors = wrong + failed + badLines;
  const figures = [
    requests === undefined ? `${all}` : `${all} of ${requests}`,
    `${(rate * 1000).toFixed(rate < 0.01 ? 1 : 0)}/s`,
    `${errors} error${errors === 1 ? "" : "s"}`,
  ];
  // The time left is not known as long as the service sets it.
  if (heldUntil > Date.now()) figures.push(`the service asks to wait until ${timeOfDay(heldUntil)}`);
  else if (requests !== undefined && rate > 0) figures.push(`${duration((requests - all) / rate)} left`);
  return figures.join("  ");
}

function withBar(facts: string, counts: Counts, terminal: Terminal): string {
  const { requests, before } = counts;
  const room = Math.min(40, terminal.errorColumns - facts.length - 3);
  if (!requests || room < 8) return facts;
  const share = (before + settled(counts)) / requests;
  return `${terminal.errorStyle("cyan", bar(share, room))} ${facts}`;
}

// In local time, with the date when it is another day.
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

/** Prints what became of a whole run. */
export function printSummary(terminal: Terminal, counts: Counts, seconds: number): void {
  const { before, ranked, wrong, failed, badLines } = counts;
  if (terminal.json) {
    terminal.print(jsonLine({ ...counts, seconds: Math.round(seconds * 1000) / 1000 }));
    return;
  }
  const parts = [`Ranked ${ranked}`, `${before} done before`];
  if (wrong > 0) parts.push(`${wrong} wrong`);
  if (failed > 0) parts.push(`${failed} failed and will run again on the next start`);
  if (badLines > 0) parts.push(`${badLines} line${badLines === 1 ? "" : "s"} not read`);
  terminal.print(`${parts.join(", ")}, in ${seconds.toFixed(1)} s.`);
}
