// Finds why and where a text is not JSON. The words are the same on every runtime, and do not quote the text.

export interface JsonFault {
  /** The fault's line, counted from 1. */
  readonly line: number;
  /** The fault's position in its line, counted from 1, in characters. */
  readonly column: number;
  readonly reason: string;
}

type Expected = "a value" | "a value or ]" | "a name" | "a name or }" | ":" | "the end" | "after a value";

class Found extends Error {
  readonly at: number;
  constructor(at: number, reason: string) {
    super(reason);
    this.at = at;
  }
}

/** How a text is scanned for faults. */
export interface Scanning {
  /** Whether NaN and Infinity are values, as they are for Python. */
  readonly takesNaN?: boolean;
  /** Called with each name of the outermost object, as the text writes it. */
  readonly onName?: (name: string) => void;
}

/** Finds the first fault of a text that `JSON.parse` rejects; undefined if the text is JSON. */
export function jsonFault(text: string, scanning: Scanning = {}): JsonFault | undefined {
  try {
    new Scanner(text, scanning).scan();
    return undefined;
  } catch (error) {
    if (!(error instanceof Found)) throw error;
    const lines = text.slice(0, error.at).split("\n");
    return { line: lines.length, column: charactersIn(lines.at(-1) ?? "") + 1, reason: error.message };
  }
}

/** How many characters a text has. Counts them one by one, because the text may be too long for a list of them. */
export function charactersIn(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

const blank = /[ \t\n\r]*/y;
const numberLike = /[-+]?[\w.][\w.+-]*/y;
const number = /^-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?$/;
const word = /[-+]?[\p{L}_$][\p{L}\d_$]*/uy;
const pythonNumber = /^(NaN|-?Infinity)$/;
// The deepest nesting that is scanned: each level takes memory, and other readers of JSON stop at far less.
const deepest = 100_000;
// Words that other languages write where JSON has a value, and what to write instead.
const strangers: Readonly<Record<string, string>> = {
  NaN: "write null",
  nan: "write null",
  Infinity: "write null",
  inf: "write null",
  None: "write null",
  undefined: "write null",
  True: "write true",
  False: "write false",
};

class Scanner {
  readonly #text: string;
  readonly #scanning: Scanning;
  readonly #open: ("{" | "[")[] = [];
  #at = 0;
  #expected: Expected = "a value";

  constructor(text: string, scanning: Scanning) {
    this.#text = text;
    this.#scanning = scanning;
  }

  /** Scans the whole text. @throws Found at the first fault */
  scan(): void {
    for (;;) {
      this.#match(blank);
      const next = this.#text[this.#at];
      if (next === undefined) break;
      this.#step(next);
    }
    if (this.#expected === "the end") return;
    const inside = this.#open.at(-1);
    if (inside === undefined) this.#fail("there is nothing");
    this.#fail(`the ${inside === "{" ? "object does not end: }" : "array does not end: ]"} is missing`);
  }

  #step(next: string): void {
    if (next === "\ufeff") this.#fail("a byte order mark");
    if (next === "\0") this.#fail("a NUL byte");
    if (next === "/") this.#fail("JSON has no comments");
    const expected = this.#expected;
    if (expected === "the end") this.#fail("a second value begins here: each needs a line of its own");
    if (expected === ":") this.#colon(next);
    else if (expected === "after a value") this.#afterValue(next);
    else if (expected === "a name" || expected === "a name or }") this.#name(next);
    else this.#value(next);
  }

  #colon(next: string): void {
    if (next !== ":") this.#fail("a colon is missing after a name");
    this.#take("a value");
  }

  #afterValue(next: string): void {
    const inside = this.#open.at(-1);
    if (next === ",") this.#take(inside === "{" ? "a name" : "a value");
    else if (next === (inside === "{" ? "}" : "]")) this.#close();
    else this.#fail(`a comma or ${inside === "{" ? "}" : "]"} is missing`);
  }

  #name(next: string): void {
    if (next === "}") {
      if (this.#expected === "a name") this.#fail("a trailing comma before }");
      this.#close();
    } else if (next === '"') {
      const start = this.#at;
      this.#string();
      if (this.#open.length === 1) this.#scanning.onName?.(this.#text.slice(start, this.#at));
      this.#expected = ":";
    } else this.#fail("a name in double quotes is missing");
  }

  #value(next: string): void {
    if (next === '"') {
      this.#string();
      this.#ended();
    } else if (next === "{") this.#begin("{", "a name or }");
    else if (next === "[") this.#begin("[", "a value or ]");
    else if (next === "]" && this.#expected === "a value or ]") this.#close();
    else if (next === "]" || next === "}" || next === ",") this.#fail(`a value is missing before ${next}`);
    else this.#plain(next);
  }

  #plain(next: string): void {
    const start = this.#at;
    const name = this.#match(word);
    if (name) this.#literal(name, start);
    else if (!number.test(this.#match(numberLike))) {
      if (this.#at > start) this.#fail("a number is not written as JSON has it", start);
      if (next === "'") this.#fail("a string needs double quotes, not single ones");
      this.#fail("this character begins no JSON value");
    }
    this.#ended();
  }

  #literal(name: string, start: number): void {
    if (name === "true" || name === "false" || name === "null") return;
    if (this.#scanning.takesNaN && pythonNumber.test(name)) return;
    const bare = name.replace(/^[-+]/, "");
    if (Object.hasOwn(strangers, bare)) this.#fail(`${name} is no JSON value: ${strangers[bare]}`, start);
    this.#fail("a string needs double quotes", start);
  }

  #string(): void {
    const start = this.#at;
    for (this.#at += 1; ; this.#at += 1) {
      const next = this.#text[this.#at];
      if (next === undefined) this.#fail("this string does not end: a double quote is missing", start);
      if (next === '"') break;
      if (next < " ") this.#fail("a control character in a string must be escaped");
      if (next === "\\") this.#escape();
    }
    this.#at += 1;
  }

  #escape(): void {
    if (!this.#match(/\\(["\\/bfnrt]|u[\da-fA-F]{4})/y)) this.#fail("JSON has no such escape in a string");
    this.#at -= 1;
  }

  #begin(bracket: "{" | "[", expected: Expected): void {
    if (this.#open.length === deepest) this.#fail("it is nested too deep to be read");
    this.#open.push(bracket);
    this.#take(expected);
  }

  #close(): void {
    this.#open.pop();
    this.#at += 1;
    this.#ended();
  }

  #ended(): void {
    this.#expected = this.#open.length === 0 ? "the end" : "after a value";
  }

  #take(expected: Expected): void {
    this.#at += 1;
    this.#expected = expected;
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const [found = ""] = pattern.exec(this.#text) ?? [];
    this.#at += found.length;
    return found;
  }

  #fail(reason: string, at: number = this.#at): never {
    throw new Found(at, reason);
  }
}
