// Checks that a request is what the row's operation and arguments require.

import type { Socket } from "node:net";
import { isDeepStrictEqual } from "node:util";
import { parseMultipart } from "../../files/multipart.js";
import type { Cell, Step } from "../cell.js";
import type { OperationData } from "../data.js";
import { proxiedHost } from "./proxy.js";
import { acceptsType, holdsKey, tokenProblems } from "./rawRequest.js";

interface ReadRequest {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Header names and values in turn, as received. */
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  /** The port on which the request arrived. */
  readonly port: number | undefined;
}

/** The API keys of a row: those that this request may use, and all of them. */
export interface Keys {
  readonly due: readonly string[];
  readonly all: readonly string[];
}

/** The differences between a request and the expected one. */
export function problemsOf(request: ReadRequest, cell: Cell, keys: Keys): readonly string[] {
  const { asked } = cell;
  const { method, url = "", headers } = request;
  const [path = "", query = ""] = url.split(/\?(.*)/s);
  const base = (cell.basePath ?? "").replace(/\/$/, "");
  const due = base + (cell.path ?? pathOf(asked.path, asked.arguments));
  const problems: string[] = [];
  if (method !== asked.method) problems.push(`the method is ${method} instead of ${asked.method}`);
  if (path !== due) problems.push(`the path is ${path} instead of ${due}`);
  problems.push(...parameterProblems(query, headers, asked));
  return [
    ...problems,
    ...headerProblems(request, cell),
    ...keyProblems(request, keys),
    ...contentProblems(request, asked),
  ];
}

function headerProblems({ headers, port }: ReadRequest, { asked, via }: Cell): readonly string[] {
  const { host, accept, cookie } = headers;
  const type = asked.answerType ?? "application/json";
  const due = via ? proxiedHost : `127.0.0.1:${port}`;
  const ofProxy = Object.keys(headers).filter((name) => name.startsWith("proxy-"));
  return [
    ...(host === due ? [] : [`Host is ${host} instead of ${due}`]),
    ...(acceptsType(accept as string | undefined, type) ? [] : [`Accept is ${accept}, without ${type}`]),
    ...(cookie === undefined ? [] : ["there is a cookie, which an earlier response set"]),
    ...ofProxy.map((name) => `the header ${name} is for a proxy only`),
  ];
}

function keyProblems({ url, rawHeaders, body }: ReadRequest, { due, all }: Keys): readonly string[] {
  const headers = rawHeaders.flatMap((name, index) =>
    index % 2 === 0 ? [[name.toLowerCase(), rawHeaders[index + 1] ?? ""] as const] : [],
  );
  const given = headers.filter(([name]) => name === "authorization").map(([, value]) => value);
  const holds = (text = ""): boolean => holdsKey(text, all);
  const isDue = given[0] !== undefined && due.some((key) => given[0] === `Bearer ${key}`);
  return [
    ...(isDue ? [] : ["Authorization is not the Bearer key that is due"]),
    ...(given.length > 1 ? [`there are ${given.length} headers Authorization instead of one`] : []),
    ...headers
      .filter(([name, value]) => name !== "authorization" && holds(value))
      .map(([name]) => `the header ${name} carries the key`),
    ...(holds(url) ? ["the address carries the key"] : []),
    // A large file is not searched for the key: rows fill such a file with one short piece, repeated.
    ...(body.length < mostTextBytes && holds(body.toString("latin1")) ? ["the body carries the key"] : []),
  ];
}

const mostTextBytes = 4 * 1024 * 1024;

function parameterProblems(
  query: string,
  headers: ReadRequest["headers"],
  { query: names = [], headers: headerNames = [], arguments: given }: OperationData,
): readonly string[] {
  const sent = new URLSearchParams(query);
  const due = (name: string): string[] =>
    Object.hasOwn(given, name) ? [given[name]].flat().map(String) : [];
  const differ = (name: string, is: readonly string[], wanted: readonly string[]): readonly string[] =>
    isDeepStrictEqual(is, wanted)
      ? []
      : [`the ${name} is ${is.join(", ") || "none"} instead of ${wanted.join(", ") || "none"}`];
  return [
    ...[...new Set([...names, ...sent.keys()])].flatMap((name) =>
      differ(`parameter ${name}`, sent.getAll(name), names.includes(name) ? due(name) : []),
    ),
    ...headerNames.flatMap((name) =>
      differ(`header ${name}`, [headers[name.toLowerCase()] ?? []].flat(), due(name)),
    ),
  ];
}

function contentProblems(request: ReadRequest, asked: OperationData): readonly string[] {
  if (asked.contentType === undefined)
    return request.body.length === 0 ? [] : ["there is a body, and none is due"];
  const type = `${request.headers["content-type"] ?? "none"}`;
  if (type.split(";")[0]?.trim().toLowerCase() !== asked.contentType)
    return [`the content type is ${type} instead of ${asked.contentType}`];
  const [, charset = "utf-8"] = /;\s*charset="?([^\s;"]+)/i.exec(type) ?? [];
  if (charset.toLowerCase() !== "utf-8") return [`the content type is ${type}, and the body is UTF-8`];
  return asked.part === undefined
    ? bodyProblems(request, asked.arguments.body)
    : formProblems(request.body, type, { part: asked.part, file: asked.arguments.file as File });
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

function fileBytes({ content = "", base64, bytes = 0 }: File): Buffer {
  return base64 === undefined ? Buffer.from(content) : Buffer.alloc(bytes, Buffer.from(base64, "base64"));
}

function bodyProblems({ body }: ReadRequest, due: unknown): readonly string[] {
  const text = body.toString();
  if (!Buffer.from(text).equals(body)) return ["the body is not UTF-8"];
  if (!isDeepStrictEqual(parsed(text), due)) return ["the body is not the JSON that was asked for"];
  return tokenProblems(text);
}

function formProblems(
  body: Buffer,
  type: string,
  { part, file }: { readonly part: string; readonly file: File },
): readonly string[] {
  const parts = parseMultipart(body, type);
  if (parts === undefined) return ["the form is not well formed"];
  const found = parts.find(({ name }) => name === part);
  const problems: string[] = [];
  if (parts.length !== 1) problems.push(`the form has ${parts.length} parts instead of one`);
  if (found === undefined) return [...problems, `the form has no part named ${part}`];
  const name = file.name.replace(/^.*[/\\]/s, "");
  if (found.filename !== name)
    problems.push(`the form names the file ${found.filename ?? "nothing"} instead of ${name}`);
  if (!fileBytes(file).equals(found.content)) problems.push("the form does not hold the file's content");
  return problems;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns a function that reports what is wrong with the connection on which a request of the row arrived. */
export function connectionsOf(cell: Cell): (socket: Socket, step: Step) => readonly string[] {
  const { asked, client, connections } = cell;
  const isRepeatable = client.repeatable ?? asked.repeatable;
  const used = new WeakMap<Socket, Step>();
  let before: Step | undefined;
  return (socket, step) => {
    const served = used.get(socket);
    const wasMisdirected = isResponse(before, ({ status }) => status === 421);
    used.set(socket, step);
    before = step;
    if (served === undefined) return [];
    if (isResponse(served, ({ after }) => after !== undefined))
      return ["it came over a connection on which something followed a response"];
    if (!connections) return [];
    if (!isRepeatable) return ["it came over a connection that was idle, and the call is not idempotent"];
    return wasMisdirected ? ["it came over a connection that was idle, after a 421"] : [];
  };
}

function isResponse(
  step: Step | undefined,
  is: (response: Extract<Step, { response: unknown }>["response"]) => boolean,
): boolean {
  return step !== undefined && "response" in step && is(step.response);
}
