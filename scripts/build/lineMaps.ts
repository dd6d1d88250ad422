import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";

const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/**
 * Leaves of every source map below a folder what a stack trace shows: the file and line of each line of the module. That
 * is a fifth of it, and the modules are readable themselves.
 */
export async function keepLinesOnly(folder: string): Promise<void> {
  const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith(".map"));
  for (const file of files.map((name) => path.join(folder, name))) {
    const { version, sources, mappings } = JSON.parse(await readFile(file, "utf8"));
    const map = { version, sources, names: [], mappings: lineMappings(mappings) };
    await writeFile(file, JSON.stringify(map));
  }
}

/** The first mapping of each line. */
export function lineMappings(mappings: string): string {
  // Of the mapping before: source, line and column are counted on from it; the column in the module begins anew.
  let all = [0, 0, 0];
  let kept = [0, 0, 0];
  const lines = mappings.split(";").map((line) => {
    let first = "";
    for (const mapping of line.split(",")) {
      const [column, ...place] = numbersOf(mapping);
      if (column === undefined || place.length < 3) continue;
      all = all.map((number, index) => number + (place[index] as number));
      if (first !== "") continue;
      first = [column, ...all.map((number, index) => number - (kept[index] as number))].map(textOf).join("");
      kept = all;
    }
    return first;
  });
  return lines.join(";");
}

// Base64 VLQ: five bits a digit, the lowest first; a sixth says that there are more; the sign is the lowest bit of all.
function numbersOf(text: string): number[] {
  const numbers: number[] = [];
  let [value, shift] = [0, 0];
  for (const character of text) {
    const digit = digits.indexOf(character);
    value += (digit & 31) << shift;
    shift += 5;
    if (digit & 32) continue;
    numbers.push(value & 1 ? -(value >> 1) : value >> 1);
    [value, shift] = [0, 0];
  }
  return numbers;
}

function textOf(number: number): string {
  let text = "";
  let rest = number < 0 ? (-number << 1) | 1 : number << 1;
  do {
    const digit = rest & 31;
    rest >>= 5;
    text += digits[rest > 0 ? digit | 32 : digit];
  } while (rest > 0);
  return text;
}
