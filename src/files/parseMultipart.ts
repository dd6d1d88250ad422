export interface Part {
  readonly name: string | undefined;
  readonly filename: string | undefined;
  readonly contentType: string | undefined;
  readonly content: Uint8Array;
}

/** The parts of a multipart/form-data body, their contents not copied; undefined when it is not well formed. */
export function parseMultipart(body: Uint8Array, contentType: string): Part[] | undefined {
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]+)"|([^\s;]+))/i.exec(contentType) ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined) return undefined;
  const first = latin1Bytes(`--${boundary}`);
  const between = latin1Bytes(`\r\n--${boundary}`);
  const blankLine = latin1Bytes("\r\n\r\n");
  if (!startsWith(body, first, 0)) return undefined;
  const parts: Part[] = [];
  let start = first.length;
  while (!startsWith(body, latin1Bytes("--"), start)) {
    if (!startsWith(body, latin1Bytes("\r\n"), start)) return undefined;
    const headEnd = find(body, blankLine, start);
    const contentStart = headEnd + blankLine.length;
    const contentEnd = headEnd === -1 ? -1 : find(body, between, contentStart);
    if (contentEnd === -1) return undefined;
    const head = new TextDecoder().decode(body.subarray(start, headEnd));
    parts.push({ ...readHead(head), content: body.subarray(contentStart, contentEnd) });
    start = contentEnd + between.length;
  }
  return parts;
}

function readHead(head: string): Omit<Part, "content"> {
  const header = (name: string): string =>
    new RegExp(`^${name}:[ \\t]*(.*)$`, "im").exec(head)?.[1]?.trim() ?? "";
  const disposition = header("content-disposition");
  // A quote within is \" or %22: clients differ.
  const parameter = (name: string): string | undefined =>
    new RegExp(`;\\s*${name}="((?:\\\\"|[^"])*)"(?=\\s*(?:;|$))`, "i")
      .exec(disposition)?.[1]
      ?.replaceAll('\\"', '"')
      .replace(/%(22|0D|0A)/gi, decodeURIComponent);
  const [, extended] = /;\s*filename\*=utf-8'[^']*'([^;\s]+)/i.exec(disposition) ?? [];
  return {
    name: parameter("name"),
    filename: extended === undefined ? parameter("filename") : decodedName(extended),
    contentType: header("content-type") || undefined,
  };
}

function decodedName(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function latin1Bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function startsWith(body: Uint8Array, wanted: Uint8Array, start: number): boolean {
  return wanted.every((byte, offset) => body[start + offset] === byte);
}

// The search for one byte is the engine's own, and fast.
function find(body: Uint8Array, wanted: Uint8Array, from: number): number {
  const head = wanted[0] as number;
  for (let at = body.indexOf(head, from); at !== -1; at = body.indexOf(head, at + 1)) {
    if (startsWith(body, wanted, at)) return at;
  }
  return -1;
}
