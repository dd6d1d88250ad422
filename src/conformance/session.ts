// The rows of one conformance run: which row is next, which are in progress, and the result of each.
import { randomBytes } from "node:crypto";
import { type Cell, callsIn } from "./cell.js";
import { compare, dependOnTime } from "./compare.js";
import type { MachineWatch } from "./machine.js";
import { BadOutcome, readOutcome } from "./outcome.js";
import { NotOnThisMachine } from "./serve/connectionFaults.js";
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

/** A row to be served, with what it differed in each time it was served before. */
type Serving = { readonly cell: Cell; readonly before: readonly (readonly string[])[] };
type UnderWay = Serving & { readonly keys: readonly string[]; served: Served; readonly givenMs: number };

interface Run {
  readonly cells: readonly Cell[];
  readonly machine: Pick<MachineWatch, "busySince">;
  /** Called at each request that a client makes for a row. */
  readonly onRequest: () => void;
}

// How many times a row is served to the client at most. If the machine is not busy, the first time gives the result.
const mostServings = 4;

export class Session {
  readonly results: RowResult[] = [];
  readonly #of: Run;
  readonly #waiting: Serving[];
  /** Rows that failed by time while the machine was busy. Each is served again while no other row is. */
  readonly #postponed: Serving[] = [];
  readonly #running = new Map<string, UnderWay>();
  #starting = 0;
  #isClosed = false;

  constructor(of: Run) {
    this.#of = of;
    this.#waiting = of.cells.map((cell) => ({ cell, before: [] }));
  }

  get #isIdle(): boolean {
    return this.#starting === 0 && this.#running.size === 0;
  }

  /** Whether all rows were handed out, and all their outcomes were posted. */
  get over(): boolean {
    return this.#waiting.length === 0 && this.#postponed.length === 0 && this.#isIdle;
  }

  /** The ids of the rows that were handed out and have no outcome yet. */
  get underWay(): readonly string[] {
    return [...this.#running.keys()];
  }

  /** The next row, in the form that the client receives; undefined if none is left. */
  async next(): Promise<object | undefined> {
    // A postponed row waits until no other row is in progress. Workers that ask before are told that they are done; the
    // worker of the last row asks again, and gets it.
    const serving = this.#waiting.shift() ?? (this.#isIdle ? this.#postponed.shift() : undefined);
    if (serving === undefined) return undefined;
    const { cell } = serving;
    const keys = keysFor(cell);
    this.#starting += 1;
    try {
      const served = await serveCell(cell, keys, this.#of.onRequest);
      if (this.#isClosed) {
        await served.close();
        return undefined;
      }
      this.#running.set(cell.id, { ...serving, keys, served, givenMs: performance.now() });
      return taskOf(cell, keys, served);
    } catch (error) {
      if (!(error instanceof NotOnThisMachine)) throw error;
      if (!this.#isClosed) this.results.push(skipped(cell.id, `this machine: ${error.message}`));
    } finally {
      this.#starting -= 1;
    }
    return await this.next();
  }

  /** Takes the posted outcome of a row. @throws BadOutcome if the outcome is invalid */
  async take(text: string): Promise<Told> {
    const outcome = readOutcome(text);
    const row = this.#running.get(outcome.id);
    if (row === undefined)
      throw new BadOutcome(
        `${outcome.id} is not under way: GET /next gives rows, and each takes one outcome.`,
      );
    const { cell, before, givenMs, keys, served } = row;
    const took = performance.now() - givenMs;
    const { id, needs } = cell;
    if (outcome.skipped !== undefined && !needs.includes(outcome.skipped))
      throw new BadOutcome(
        `${id} cannot be skipped for ${outcome.skipped}: it needs ${needs.join(", ") || "nothing"}.`,
      );
    // The row is not finished before it is known whether an aborted call left a connection or a request behind.
    const late = await served.leftBehind();
    const { differences: found, notes } = compare(cell, served.log, { outcome, text, keys, took });
    const differences = [...found, ...late];
    const kind = differences.length === 0 ? "passed" : "failed";
    const result: RowResult =
      outcome.skipped === undefined
        ? { id, result: kind, differences, notes, ...(before.length > 0 && { whileBusy: before }) }
        : skipped(id, outcome.skipped);
    const servings = [...before, differences];
    const isPostponed =
      result.result === "failed" &&
      servings.length < mostServings &&
      dependOnTime(cell, differences, took) &&
      this.#of.machine.busySince(givenMs);
    if (this.#running.delete(id)) {
      if (isPostponed) this.#postponed.push({ cell, before: servings });
      else this.results.push(result);
    }
    await served.close();
    return isPostponed ? { ...result, result: "postponed" } : result;
  }

  /** Counts rows in progress as failed, for the reason `why`, and all others as never served; closes all servers. */
  async close(why: string): Promise<void> {
    const left = [...this.#running.values()];
    this.#isClosed = true;
    this.#running.clear();
    this.#waiting.length = 0;
    const end = (id: string, result: RowResult["result"], differences: readonly string[]): void =>
      void this.results.push({ id, result, differences, notes: [] });
    for (const { cell, before } of this.#postponed.splice(0)) end(cell.id, "failed", before.at(-1) ?? []);
    for (const { cell } of left) end(cell.id, "failed", [why]);
    const heardOf = new Set(this.results.map(({ id }) => id));
    for (const { id } of this.#of.cells) if (!heardOf.has(id)) end(id, "never served", []);
    await Promise.all(left.map(({ served }) => served.close()));
  }
}

function skipped(id: string, skippedFor: string): RowResult {
  return { id, result: "skipped", differences: [], notes: [], skippedFor };
}

// Random API keys for one test case, one for each client, or two if the client takes its key from a function. No real
// service accepts them.
function keysFor({ client }: Cell): readonly string[] {
  const key = (): string => `conformance-${randomBytes(12).toString("hex")}`;
  return Array.from({ length: client.apiKey === "function" ? 2 : (client.clients ?? 1) }, key);
}

// When the client aborts a call in progress, in milliseconds: the request has arrived by then, even on a busy machine.
const abortAfterMs = 500;

function taskOf({ asked, client, ...cell }: Cell, keys: readonly string[], served: Served): object {
  const { apiKey, abort, calls = 1, clients, parallel, newClientPerCall, programs, ...options } = client;
  const { id, operation, needs } = cell;
  return {
    id,
    operation,
    ...served.address,
    ...(apiKey ? { apiKeys: keys } : { apiKey: keys[0] }),
    keyPerCall: clients && Array.from({ length: calls }, (_, index) => keys[index % clients]),
    arguments: asked.arguments,
    parallel: parallel && callsIn({ ...cell, asked, client }).map((call) => call.asked.arguments),
    options: { maxRetries: 2, ...options, abortAfterMs: abort && (abort === "before" ? 0 : abortAfterMs) },
    ...{ calls, newClientPerCall, programs, needs },
  };
}
