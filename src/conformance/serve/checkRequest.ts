// Checks that a request is what the row's operation and arguments require.

import type { IncomingMessage } from "node:http";
import { isDeepStrictEqual } from "node:util";
import { parseMultipart } from "../../files/multipart.js";
import { parseJson } from "../../values.js";
import type { Cell } from "../cell.js";
import type { OperationData } from "../data.js";
import { different, when } from "../differences.js";
import { proxiedHost } from "./proxy.js";
import { acceptsType, holdsKey, tokenProblems } from "./rawRequest.js";

/** The API keys of a row: those that this request may use, and all of them. */
interface Keys {
  readonly due: readonly string[];
  readonly all: readonly string[];
}

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
  const dueHost = via ? proxiedHost : `127.0.0.1:${request.socket.localPort}`;
  const ofProxy = Object.keys(headers).filter((name) => name.startsWith("proxy-"));
  return [
    ...different("method", method, asked.method),
    ...different("path", path, due),
    ...parameterProblems(query, headers, asked),
    ...different("Host", host, dueHost),
    ...when(!acceptsType(accept, type), `Accept is ${accept}, without ${type}`),
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
interface File {
  readonly name: string;
  readonly content?: string;
  readonly base64?: string;
  readonly bytes?: number;
}

function bodyProblems(body: Buffer, due: unknown): readonly string[] {
  const text = body.toString();
  if (!Buffer.from(text).equals(body)) return ["the body is not UTF-8"];
  return !text.startsWith("\ufeff") && isDeepStrictEqual(parseJson(text), due)
    ? tokenProblems(text)
    : ["the body is not the JSON that was asked for"];
}

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
