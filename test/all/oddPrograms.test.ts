import { fileURLToPath } from "node:url";
import { beforeAll, expect, test } from "vitest";
import { runFile } from "../support/script.js";

const program = fileURLToPath(new URL("../support/oddProgram.ts", import.meta.url));

/** What is odd about a program, and the program that it is compared with. */
const pairs: readonly (readonly [odd: string, plain: string])[] = [
  ["a stack that is frames", "nothing"],
  ["frozen errors", "nothing"],
  ["a logger and an inspect that throw", "nothing"],
  ["a message that is no string", "nothing"],
  ["getters that throw", "nothing"],
  ["a toString that throws", "nothing"],
  ["a proxy whose password is not Latin-1", "a proxy whose password is plain"],
];

interface Told {
  readonly rows: readonly string[];
  readonly unhandled: readonly string[];
}

const told = new Map<string, Told>();

beforeAll(async () => {
  const left = [...new Set(pairs.flat())];
  const lane = async (): Promise<void> => {
    for (let odd = left.shift(); odd !== undefined; odd = left.shift()) told.set(odd, await run(odd));
  };
  await Promise.all([lane(), lane()]);
}, 600_000);

const byParserOfUndici =
  /^(a body without a head|a header with a NUL|a length below zero|a status (line that is garbage|that is no number)) \|.*\| (fetch|dispatcher) \|/;

test.each(pairs)("in a program with %s every fault is told as in one with %s", (odd, plain) => {
  const { rows, unhandled } = told.get(odd) as Told;
  // Where errors are frozen, undici cannot make that of its parser: such a response is retried as a lost one.
  const isTold = (row: string): boolean => odd !== "frozen errors" || !byParserOfUndici.test(row);
  expect(rows.filter(isTold)).toEqual(told.get(plain)?.rows.filter(isTold));
  expect(rows.length).toBe(told.get(plain)?.rows.length);
  expect(rows.length).toBeGreaterThan(5);
  expect(unhandled).toEqual([]);
});

async function run(odd: string): Promise<Told> {
  const { stdout, stderr } = await runFile(program, { ODD: odd });
  if (stdout === "") throw new Error(`In a program with ${odd}: ${stderr}`);
  return JSON.parse(stdout) as Told;
}
