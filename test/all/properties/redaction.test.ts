import assert from "node:assert/strict";
import type { Arbitrary } from "fast-check";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { redactor } from "../../../src/redact/redact.js";
import { hostileString, times, visible, within } from "./runs.js";

/** A text, each of its characters as one writer or several, one after the other, spell it. */
type Spelling = (text: string) => readonly string[];

type Writer = (char: string, choice: number) => string;

const hex = (char: string, length: number, upper: boolean): string => {
  const digits = char.charCodeAt(0).toString(16).padStart(length, "0");
  return upper ? digits.toUpperCase() : digits;
};

// A JSON writer must escape quotes and backslashes, and may escape everything.
const json: Writer = (char, choice) => {
  if (choice < 2) return `\\u${hex(char, 4, choice === 0)}`;
  const escaped = char === '"' || char === "\\" || (char === "/" && choice < 4);
  return escaped ? `\\${char}` : char;
};

// One whose text is escaped once more afterwards leaves letters and digits alone, as all do that are in use.
const innerJson: Writer = (char, choice) => (/[\w%#;-]/.test(char) ? char : json(char, choice));

// Who percent-encodes a URL must encode percent signs.
const url: Writer = (char, choice) =>
  char === "%" || choice < 4 ? `%${hex(char, 2, choice % 2 === 0)}` : char;

const htmlNames: Readonly<Record<string, readonly string[]>> = {
  "!": ["excl"],
  '"': ["quot", "QUOT"],
  "#": ["num"],
  $: ["dollar"],
  "%": ["percnt"],
  "&": ["amp", "AMP"],
  "'": ["apos"],
  "(": ["lpar"],
  ")": ["rpar"],
  "*": ["ast", "midast"],
  "+": ["plus"],
  ",": ["comma"],
  ".": ["period"],
  "/": ["sol"],
  ":": ["colon"],
  ";": ["semi"],
  "<": ["lt", "LT"],
  "=": ["equals"],
  ">": ["gt", "GT"],
  "?": ["quest"],
  "@": ["commat"],
  "[": ["lsqb", "lbrack"],
  "\\": ["bsol"],
  "]": ["rsqb", "rbrack"],
  "^": ["Hat"],
  _: ["lowbar", "UnderBar"],
  "`": ["grave", "DiacriticalGrave"],
  "{": ["lcub", "lbrace"],
  "|": ["verbar", "vert", "VerticalLine"],
  "}": ["rcub", "rbrace"],
};

// HTML must escape ampersands.
const html: Writer = (char, choice) => {
  const names = htmlNames[char];
  if (choice === 0) return `&#${char.charCodeAt(0)};`;
  if (choice === 1) return `&#0${char.charCodeAt(0)};`;
  if (choice === 2) return `&#x${hex(char, 2, true)};`;
  if (choice === 3) return `&#X${hex(char, 4, false)};`;
  if (names === undefined || (choice > 6 && char !== "&")) return char;
  return `&${names[choice % names.length]};`;
};

/** Up to three writers, each spelling what the one before it wrote; each escapes few characters, many or all. */
const layered: Arbitrary<Spelling> = fc
  .array(
    fc.record({
      write: fc.constantFrom(json, url, html),
      choices: fc.array(fc.nat(9), { minLength: 1, maxLength: 30 }),
    }),
    { maxLength: 3 },
  )
  .map((writers) => (text) => {
    let spelled: readonly string[] = text.split("");
    for (const [i, { write, choices }] of writers.entries()) {
      const writer = write === json && i < writers.length - 1 ? innerJson : write;
      let next = 0;
      const choose = (): number => choices[next++ % choices.length] ?? 0;
      spelled = spelled.map((written) => Array.from(written, (char) => writer(char, choose())).join(""));
    }
    return spelled;
  });

// Never part of another text. A backslash at its end would stay, and is no secret.
const keyOf = (minLength: number) =>
  fc
    .tuple(
      fc.string({ unit: visible, minLength: minLength - 8, maxLength: 40 }),
      fc.constantFrom("sk-7Q9xZ", "/Q7&x<Z+", 'Z"\\?Q7x:'),
    )
    .map(([rest, mark]) => `${mark.slice(0, 5)}${rest}${mark.slice(5)}`);
const key = keyOf(8);

// None begins an escape or ends one.
const before = fc.constantFrom("", "la", "Wrong key ", '{"key":"', "/?key=", "<b>", "Bearer ", "key:\\n");
const after = fc.constantFrom("", " is wrong.", '","more":1}', "&page=1", "</b>", "\\n", ", ");

describe("a key of 8 characters or more", () => {
  test(
    "is taken out in every spelling, and nothing else is",
    () => {
      const spelled = fc.record({ left: before, secret: key, right: after, spell: layered });
      fc.assert(
        fc.property(spelled, ({ left, secret, right, spell }) => {
          const text = left + spell(secret).join("") + right;
          assert.equal(redactor(secret)(text), `${left}[redacted]${right}`);
        }),
        times(5_000),
      );
    },
    within(120_000),
  );

  test(
    "of which at least 8 characters came before the text was cut is taken out",
    () => {
      const cut = fc.record({ left: before, secret: keyOf(9), spell: layered, at: fc.nat() });
      fc.assert(
        fc.property(cut, ({ left, secret, spell, at }) => {
          const chars = spell(secret);
          const least = chars.slice(0, 8).join("").length;
          const text = chars.join("");
          const came = text.slice(0, least + (at % (text.length - least)));
          assert.equal(redactor(secret)(left + came, true), `${left}[redacted]`);
        }),
        times(5_000),
      );
    },
    within(120_000),
  );

  test(
    "is taken out of base64, wherever it begins there and in whatever spelling",
    () => {
      const encoded = fc.record({
        left: fc.uint8Array({ maxLength: 20 }),
        secret: keyOf(12),
        right: fc.uint8Array({ maxLength: 20 }),
        alphabet: fc.constantFrom("base64", "base64url"),
        spell: layered,
        whole: fc.boolean(),
        at: fc.nat(),
      });
      fc.assert(
        fc.property(encoded, ({ left, secret, right, alphabet, spell, whole, at }) => {
          const chars = spell(
            Buffer.concat([left, Buffer.from(secret), right]).toString(alphabet as "base64"),
          );
          // Those that hold bits of the key alone.
          const from = Math.ceil((8 * left.length) / 6);
          const to = Math.floor((8 * (left.length + secret.length)) / 6);
          const cutAt = whole ? chars.length : from + 11 + (at % (to - from - 10));
          const text = chars.slice(0, cutAt).join("");
          const rest = chars.slice(Math.min(cutAt, to), cutAt).join("");
          const redacted = redactor(secret)(text, !whole);
          assert.equal(redacted, `${chars.slice(0, from).join("")}[redacted]${rest}`);
        }),
        times(5_000),
      );
    },
    within(120_000),
  );

  test(
    "changes no text without it",
    () => {
      fc.assert(
        fc.property(key, hostileString, fc.boolean(), (secret, text, cut) => {
          assert.equal(redactor(secret)(text, cut), text);
        }),
        times(5_000),
      );
    },
    within(120_000),
  );
});

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
