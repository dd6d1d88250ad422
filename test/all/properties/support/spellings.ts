import fc, { type Arbitrary } from "fast-check";

/** A text, each of its characters as one writer or several, one after the other, spell it. */
export type Spelling = (text: string) => readonly string[];

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
export const layered: Arbitrary<Spelling> = fc
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
