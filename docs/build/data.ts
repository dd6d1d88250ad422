import { readFile } from "node:fs/promises";

const docs = new URL("../", import.meta.url);

/** A file of docs/data, which another command writes and git keeps. */
export async function readData<T>(name: string, command: string): Promise<T> {
  const text = await readFile(new URL(`data/${name}`, docs), "utf8").catch(() => {
    throw new Error(`docs/data/${name} is missing: ${command} writes it.`);
  });
  return JSON.parse(text) as T;
}

/** The last day on which something was measured, and what was measured on another. */
export function datesOf(rows: readonly { readonly name: string; readonly date: string }[]): string {
  const [last, ...others] = [...new Set(rows.map(({ date }) => date))].sort().reverse();
  const older = others.map((day) => {
    const names = rows.filter(({ date }) => date === day).map(({ name }) => name);
    return `on ${day}: ${names.join("; ")}`;
  });
  return older.length > 0 ? `${last} (${older.join("; ")})` : `${last}`;
}
