import { describe, expect, test } from "vitest";
import { redactor } from "../../src/redact/redact.js";

// As much as is read of an error body, and the longest keys: where a pattern that backtracks, or a search that begins
// anew, takes quadratic time.
const bodyLength = 64 * 1024;

const filled = (piece: string, length: number): string =>
  piece.repeat(Math.ceil(length / piece.length)).slice(0, length);

const keys: readonly (readonly [what: string, key: string])[] = [
  ["8 equal letters", filled("a", 8)],
  ["8192 equal letters", filled("a", 8192)],
  ["8191 equal letters after another", `b${filled("a", 8191)}`],
  ["8190 characters of escaped percent signs", filled("%25", 8190)],
  ["8190 characters of escaped ampersands", filled("&amp;", 8190)],
  ["1 letter", "a"],
  ["1 quote", '"'],
];

const pieces: readonly string[] = [
  "a",
  "%",
  "%25",
  "\\",
  "\\u0061",
  "\\u0025\\u0032\\u0035",
  "&",
  "&amp;",
  "&#000000",
  ";",
  '"',
  "=a",
  ": a\n",
  "Bearer a ",
  " ",
  `${filled("a", 8191)}c`,
];
const texts: readonly (readonly [what: string, text: string])[] = [
  ...pieces.map((piece) => [piece.slice(0, 20), filled(piece, bodyLength)] as const),
  ["%2525...", `%${filled("25", bodyLength - 1)}`],
  ["&amp;amp;...", `&${filled("amp;", bodyLength - 1)}`],
];

describe.each(keys)("a key of %s", (_what, key) => {
  test.each(texts)("is looked for in a body full of %j in linear time", (_piece, text) => {
    const before = process.cpuUsage();
    redactor(key)(text, true);
    const { user, system } = process.cpuUsage(before);
    // Tens of milliseconds on an idle machine; quadratic time would be many seconds.
    expect((user + system) / 1000).toBeLessThan(2000);
  });
});
