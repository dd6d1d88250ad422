// Checks that a request is what the row's operation and arguments require.
import type { IncomingMessage } from "node:http";
import { isDeepStrictEqual } from "node:util";
import { parseMultipart } from "../../files/multipart.js";
import { parseJson } from "../../values.js";
import { type Cell, proxiedHost } from "../cell.js";
import type { OperationData } from "../data.js";
import { different, when } from "../differences.js";

/** The API keys of a row: those that a request may use, and all of them. */
type Keys = Readonly<Record<"due" | "all", readonly string[]>>;

/** The differences between a request and the expected one. */
export function problemsOf(
  request: IncomingMessage,
  body: Buffer,
  cell: Cell,
  keys: Keys,
): readonly string[] {
  const { asked, via, basePath = "" } = cell;
  const { method, url = "", headers } = request;
  const [path = "", query = ""] = url.split(/\?(.*)/s);
  const due = basePath.replace(/\/$/, "") + (cell.path ?? pathOf(asked.path, asked.arguments));
  const { host, accept, cookie } = headers;
  const type = asked.answerType ?? "application/json";
  const taken = [type, type.replace(/\/.*/, "/*"), "*/*"];
  const isAccepted = accept === undefined || partsOf(accept).some((part) => taken.includes(part));
  const dueHost = via ? proxiedHost : `127.0.0.1:${request.socket.localPort}`;
  const ofProxy = Object.keys(headers).filter((name) => name.startsWith("proxy-"));
  return [
    ...different("method", method, asked.method),
    ...different("path", path, due),
    ...parameterProblems(query, headers, asked),
    ...different("Host", host, dueHost),
    ...when(!isAccepted, `Accept is ${accept}, without ${type}`),
    ...when(cookie !== undefined, "there is a cookie, which an earlier response set"),
    ...ofProxy.map((name) => `the header ${name} is for a proxy only`),
    ...keyProblems(request, body, keys),
    ...contentProblems(headers["content-type"] ?? "none", body, asked),
  ];
}

function keyProblems(
  { url = "", headersDistinct }: IncomingMessage,
  body: Buffer,
  { due, all }: Keys,
): readonly string[] {
  const { authorization: given = [], ...others } = headersDistinct;
  const isDue = due.some((key) => given[0] === `Bearer ${key}`);
  // A large file is not searched for the key: rows fill such a file with one short piece, repeated.
  const text = body.length < mostTextBytes ? body.toString("latin1") : "";
  return [
    ...when(!isDue, "Authorization is not the Bearer key that is due"),
    ...when(given.length > 1, `there are ${given.length} headers Authorization instead of one`),
    ...Object.entries(others).flatMap(([name, values]) =>
      when(holdsKey(`${values}`, all), `the header ${name} carries the key`),
    ),
    ...when(holdsKey(url, all), "the address carries the key"),
    ...when(holdsKey(text, all), "the body carries the key"),
  ];
}

const mostTextBytes = 4 * 1024 * 1024;

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

/** The parts of a header's list in lower case, without those that the client excludes with weight 0 (`q=0`). */
export function partsOf(list: string): readonly string[] {
  return list
    .toLowerCase()
    .split(",")
    .map((part) => part.split(";").map((each) => each.trim()))
    .filter(([name, ...rest]) => name && !rest.some((each) => /^q=0(\.0*)?$/.test(each)))
    .map(([name = ""]) => name);
}

function parameterProblems(
  query: string,
  headers: IncomingMessage["headers"],
  { query: names = [], headers: headerNames = [], arguments: given }: OperationData,
): readonly string[] {
  const sent = new URLSearchParams(query);
  const due = (name: string): readonly string[] =>
    Object.hasOwn(given, name) ? [given[name]].flat().map(String) : [];
  return [
    ...[...new Set([...names, ...sent.keys()])].flatMap((name) =>
      different(`parameter ${name}`, sent.getAll(name), names.includes(name) ? due(name) : []),
    ),
    ...headerNames.flatMap((name) =>
      different(`header ${name}`, [headers[name.toLowerCase()] ?? []].flat(), due(name)),
    ),
  ];
}

function contentProblems(type: string, body: Buffer, asked: OperationData): readonly string[] {
  if (asked.contentType === undefined) return when(body.length > 0, "there is a body, and none is due");
  const [, charset = "utf-8"] = /;\s*charset="?([^\s;"]+)/i.exec(type) ?? [];
  if (type.split(";")[0]?.trim().toLowerCase() !== asked.contentType || charset.toLowerCase() !== "utf-8")
    return different("content type", type, asked.contentType);
  return asked.part === undefined
    ? bodyProblems(body, asked.arguments.body)
    : formProblems(body, type, asked.part, asked.arguments.file as File);
}

// Fills the arguments into a path, and encodes all but unreserved characters: encodeURIComponent alone leaves `!'()*`.
function pathOf(template: string, values: Readonly<Record<string, unknown>>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(`${values[name]}`).replace(
      /[!'()*]/g,
      (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
    ),
  );
}

// The content of a file is the text `content`, or the bytes of `base64` repeated to a length of `bytes`.
type File = Readonly<Record<"name", string> & Partial<Record<"content" | "base64", string>>> & {
  bytes?: number;
};

function bodyProblems(body: Buffer, due: unknown): readonly string[] {
  const text = body.toString();
  if (!Buffer.from(text).equals(body)) return ["the body is not UTF-8"];
  if (text.startsWith("\ufeff") || !isDeepStrictEqual(parseJson(text), due))
    return ["the body is not the JSON that was asked for"];
  // A parser shows neither members that are there twice nor integers with a fraction.
  const tokens = text.match(token) ?? [];
  const isInteger = (part: string): boolean => /^-?\d+[.eE]/.test(part) && Number.isInteger(Number(part));
  return [
    ...when(tokens.length !== `${JSON.stringify(due)}`.match(token)?.length, "the body has a member twice"),
    ...tokens.filter(isInteger).map((part) => `the body has ${part} for an integer`),
  ];
}

const token = /"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s{}[\]:,"]+/gs;

function formProblems(body: Buffer, type: string, part: string, file: File): readonly string[] {
  const parts = parseMultipart(body, type);
  if (parts === undefined) return ["the form is not well formed"];
  const names = parts.map(({ name }) => name);
  const [sent] = parts;
  if (sent === undefined || names.join() !== part) return different("parts of the form", names, [part]);
  const name = file.name.replace(/^.*[/\\]/s, "");
  const { content = "", base64, bytes = 0 } = file;
  const due = base64 ? Buffer.alloc(bytes, Buffer.from(base64, "base64")) : Buffer.from(content);
  return [
    ...different("file name", sent.filename, name),
    ...when(!due.equals(sent.content), "the form does not hold the file's content"),
  ];
}
