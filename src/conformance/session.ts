// The rows of one conformance run: which row is next, which are in progress, and the result of each.
import { randomBytes } from "node:crypto";
import type { Cell } from "./cell.js";
import { compare, dependOnTime } from "./compare.js";
import type { MachineWatch } from "./machine.js";
import { BadOutcome, type ReportedOutcome, readOutcome } from "./outcome.js";
import { NotOnThisMachine } from "./serve/connectionFaults.js";
import { callsIn } from "./serve/parallelCalls.js";
import { type Served, serveCell } from "./serve/serveCell.js";

export interface RowResult {
  readonly id: string;
  readonly result: "passed" | "failed" | "skipped" | "never served";
  readonly differences: readonly string[];
  readonly notes: readonly string[];
  /** Why the row was skipped: what the client lacks (one of the row's `needs`), or what this machine cannot do. */
  readonly skippedFor?: string;
  /** The differences of each time that the row was served before, while the machine was busy. */
  readonly whileBusy?: readonly (readonly string[])[];
}

/** The result that the client is told: a postponed row is served again, alone, and has no result yet. */
export type Told = Omit<RowResult, "result"> & { readonly result: RowResult["result"] | "postponed" };

export interface Session {
  readonly results: readonly RowResult[];
  /** Whether all rows were handed out, and all their outcomes were posted. */
  readonly over: boolean;
  /** The ids of the rows that were handed out and have no outcome yet. */
  readonly underWay: readonly string[];
  /** The next row, in the form that the client receives; undefined if none is left. */
  next(): Promise<object | undefined>;
  /** Takes the posted outcome of a row. @throws BadOutcome if the outcome is invalid */
  take(text: string): Promise<Told>;
  /** Counts rows in progress as failed, for the reason `why`, and all others as never served; closes all servers. */
  close(why: string): Promise<void>;
}

/** A row to be served, with what it differed in each time it was served before. */
interface Serving {
  readonly cell: Cell;
  readonly before: readonly (readonly string[])[];
}

interface UnderWay extends Serving {
  readonly keys: readonly string[];
  readonly served: Served;
  readonly givenMs: number;
}

interface Rows {
  readonly cells: readonly Cell[];
  readonly machine: MachineWatch;
  readonly waiting: Serving[];
  /** Rows that failed by time while the machine was busy. Each is served again while no other row is. */
  readonly postponed: Serving[];
  readonly running: Map<string, UnderWay>;
  readonly results: RowResult[];
  starting: number;
  closed: boolean;
}

/** Creates a session. @param onRequest Called at each request that a client makes for a row. */
export function createSession(cells: readonly Cell[], machine: MachineWatch, onRequest: () => void): Session {
  const rows: Rows = {
    cells,
    machine,
    waiting: cells.map((cell) => ({ cell, before: [] })),
    postponed: [],
    running: new Map(),
    results: [],
    starting: 0,
    closed: false,
  };
  return {
    results: rows.results,
    get over() {
      return rows.waiting.length === 0 && rows.postponed.length === 0 && isIdle(rows);
    },
    get underWay() {
      return [...rows.running.keys()];
    },
    next: () => next(rows, onRequest),
    take: (text) => take(rows, text),
    close: (why) => close(rows, why),
  };
}

function isIdle({ starting, running }: Rows): boolean {
  return starting === 0 && running.size === 0;
}

async function next(rows: Rows, onRequest: () => void): Promise<object | undefined> {
  // A postponed row waits until no other row is in progress. Workers that ask before are told that they are done; the
  // worker of the last row asks again, and gets it.
  const serving = rows.waiting.shift() ?? (isIdle(rows) ? rows.postponed.shift() : undefined);
  if (serving === undefined) return undefined;
  const { cell } = serving;
  const keys = keysFor(cell);
  rows.starting += 1;
  try {
    const served = await serveCell(cell, keys, onRequest);
    if (rows.closed) {
      await served.close();
      return undefined;
    }
    rows.running.set(cell.id, { ...serving, keys, served, givenMs: performance.now() });
    return taskOf(cell, keys, served);
  } catch (error) {
    if (!(error instanceof NotOnThisMachine)) throw error;
    if (!rows.closed) rows.results.push(skipped(cell.id, `this machine: ${error.message}`));
  } finally {
    rows.starting -= 1;
  }
  return await next(rows, onRequest);
}

// How many times a row is served to the client at most. If the machine is not busy, the first time gives the result.
const mostServings = 4;

async function take(rows: Rows, text: string): Promise<Told> {
  const { machine, running, results, postponed } = rows;
  const outcome = readOutcome(text);
  const row = running.get(outcome.id);
  if (row === undefined) throw new BadOutcome(unknown(outcome.id, rows));
  const took = performance.now() - row.givenMs;
  // The row is not finished before it is known whether an aborted call left a connection or a request behind.
  const late = await row.served.leftBehind();
  const result = resultOf(row, outcome, { text, took, late });
  const { cell, before, givenMs } = row;
  const servings = [...before, result.differences];
  const isPostponed =
    result.result === "failed" &&
    servings.length < mostServings &&
    dependOnTime(cell, result.differences, took) &&
    machine.busySince(givenMs);
  if (running.delete(outcome.id)) {
    if (isPostponed) postponed.push({ cell, before: servings });
    else results.push(result);
  }
  await row.served.close();
  return isPostponed ? { ...result, result: "postponed" } : result;
}

async function close(rows: Rows, why: string): Promise<void> {
  const { cells, waiting, postponed, running, results } = rows;
  const left = [...running];
  rows.closed = true;
  running.clear();
  waiting.length = 0;
  for (const { cell, before } of postponed.splice(0))
    results.push({ id: cell.id, result: "failed", differences: before.at(-1) ?? [], notes: [] });
  for (const [id] of left) results.push({ id, result: "failed", differences: [why], notes: [] });
  const heardOf = new Set(results.map(({ id }) => id));
  for (const { id } of cells)
    if (!heardOf.has(id)) results.push({ id, result: "never served", differences: [], notes: [] });
  await Promise.all(left.map(([, { served }]) => served.close()));
}

function unknown(id: string, { cells, results, postponed }: Rows): string {
  if (postponed.some(({ cell }) => cell.id === id)) return `${id} is served again: GET /next gives it.`;
  if (results.some((result) => result.id === id)) return `The outcome of ${id} was posted already.`;
  const known = cells.some((cell) => cell.id === id);
  return known ? `${id} was not handed out yet: GET /next does.` : `There is no row ${JSON.stringify(id)}.`;
}

function skipped(id: string, skippedFor: string): RowResult {
  return { id, result: "skipped", differences: [], notes: [], skippedFor };
}

function resultOf(
  { cell, before, keys, served }: UnderWay,
  outcome: ReportedOutcome,
  { text, took, late }: { readonly text: string; readonly took: number; readonly late: readonly string[] },
): RowResult {
  const { id, needs } = cell;
  if (outcome.skipped !== undefined) {
    if (needs.includes(outcome.skipped)) return skipped(id, outcome.skipped);
    const needed = needs.length === 0 ? "nothing" : needs.join(", ");
    throw new BadOutcome(
      `${id} cannot be skipped for ${JSON.stringify(outcome.skipped)}: it needs ${needed}.`,
    );
  }
  const { differences: found, notes } = compare(cell, served.log, { outcome, text, keys, took });
  const differences = [...found, ...late];
  const result = differences.length === 0 ? "passed" : "failed";
  return { id, result, differences, notes, ...(before.length > 0 && { whileBusy: before }) };
}

// Random API keys for one test case, one for each client, or two if the client takes its key from a function. No real
// service accepts them.
function keysFor({ client }: Cell): readonly string[] {
  const key = (): string => `conformance-${randomBytes(12).toString("hex")}`;
  return Array.from({ length: client.apiKey === "function" ? 2 : (client.clients ?? 1) }, key);
}

// When the client aborts a call in progress, in milliseconds: the request has arrived by then, even on a busy machine.
const abortAfterMs = 1000;

function taskOf(cell: Cell, keys: readonly string[], served: Served): object {
  const { id, operation, asked, client, needs } = cell;
  const {
    apiKey,
    abort,
    calls = 1,
    clients,
    parallel,
    newClientPerCall,
    programs,
    maxRetries = 2,
    ...rest
  } = client;
  const aborts = abort && { abortAfterMs: abort === "before" ? 0 : abortAfterMs };
  const perCall = clients && Array.from({ length: calls }, (_, index) => keys[index % clients]);
  return {
    id,
    operation,
    ...served.address,
    ...(apiKey ? { apiKeys: keys } : { apiKey: keys[0] }),
    ...(perCall && { keyPerCall: perCall }),
    arguments: asked.arguments,
    ...(parallel && { parallel: callsIn(cell).map((call) => call.asked.arguments) }),
    options: { maxRetries, ...rest, ...aborts },
    calls,
    ...(newClientPerCall && { newClientPerCall }),
    ...(programs && { programs }),
    needs,
  };
}
