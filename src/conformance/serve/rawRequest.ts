// What the bytes of a request show, and a parsed request hides: number tokens, repeated members, codings, hosts, keys.

// So many characters of a key's end count as the key.
const shownLength = 12;

/** Whether a text holds one of the keys: as it is, or its end, in hexadecimal or base64 digits, or percent-encoded. */
export function holdsKey(text: string, keys: readonly string[]): boolean {
  const plain = text.replace(/%([0-9a-f]{2})/gi, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
  const standard = plain.replaceAll("-", "+").replaceAll("_", "/");
  const small = plain.toLowerCase();
  return keys.some(
    (key) =>
      plain.includes(key.slice(-shownLength)) ||
      small.includes(Buffer.from(key).toString("hex")) ||
      [0, 1, 2].some((offset) => standard.includes(base64Of(key, offset))),
  );
}

// The base64 digits that depend on the key alone, if `offset` bytes of a group of three stand before the key.
function base64Of(key: string, offset: number): string {
  const digits = Buffer.from("\0".repeat(offset) + key).toString("base64");
  return digits.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + key.length) * 8) / 6));
}

/** The content codings that a request announces, in lower case. */
export function codingsOf(acceptEncoding: string | string[] | undefined): readonly string[] {
  return partsOf(`${acceptEncoding ?? ""}`);
}

/** Whether a request with this header accepts JSON in its response, or the operation's own media type. */
export function acceptsType(accept: string | undefined, type: string): boolean {
  const [group = ""] = type.split("/");
  return accept === undefined || partsOf(accept).some((part) => [type, `${group}/*`, "*/*"].includes(part));
}

// The parts of a header's list, without those that the client excludes with weight 0 (`q=0`).
function partsOf(list: string): readonly string[] {
  return list
    .toLowerCase()
    .split(",")
    .map((part) => part.split(";").map((each) => each.trim()))
    .filter(([name, ...rest]) => name && !rest.some((each) => /^q=0(\.0*)?$/.test(each)))
    .map(([name = ""]) => name);
}

const token = /"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s{}[\]:,"]+/gs;

/** What is wrong with JSON that a parser does not show: members that are there twice, and integers with a fraction. */
export function tokenProblems(text: string): readonly string[] {
  const problems: string[] = [];
  const open: (Set<string> | undefined)[] = [];
  const tokens = text.match(token) ?? [];
  for (const [at, part] of tokens.entries()) {
    if (part === "{" || part === "[") open.push(part === "{" ? new Set() : undefined);
    else if (part === "}" || part === "]") open.pop();
    else if (part.startsWith('"') && tokens[at + 1] === ":") {
      const name = String(JSON.parse(part));
      if (open.at(-1)?.has(name)) problems.push(`the body has the member ${name} twice`);
      open.at(-1)?.add(name);
    } else if (/^-?\d+[.eE]/.test(part) && Number.isInteger(Number(part)))
      problems.push(`the body has ${part} for an integer`);
  }
  return problems;
}
