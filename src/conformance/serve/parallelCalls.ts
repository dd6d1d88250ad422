// Calls that a client makes at the same time, each with arguments and a response of its own.
import type { Cell } from "../cell.js";

/**
 * The calls of a cell (a conformance row for one operation) that are made at the same time, each as a cell: `{n}` in its
 * texts is the number of the call, from 1. If calls are made one after another, the only one is the cell itself.
 */
export function callsIn(cell: Cell): readonly Cell[] {
  const { parallel } = cell.client;
  if (parallel === undefined) return [cell];
  const { asked, steps } = cell;
  return Array.from({ length: parallel }, (_, index) => {
    const number = `${index + 1}`;
    return { ...cell, asked: numbered(asked, number), steps: numbered(steps, number) };
  });
}

function numbered<T>(value: T, number: string): T {
  return JSON.parse(JSON.stringify(value).replaceAll("{n}", number)) as T;
}

const longestHoldMs = 500;

/** Returns a function that each request awaits. All go on once `requests` requests came, or half a second passed. */
export function createGate(requests: number): () => Promise<void> {
  let left = requests;
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return () => {
    left -= 1;
    if (left <= 0) open();
    else setTimeout(open, longestHoldMs).unref();
    return opened;
  };
}
