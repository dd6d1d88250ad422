// Whether a request is the one that the operation asks for.
import { isDeepStrictEqual } from "node:util";
import type { Cell } from "../cells.js";
import type { OperationData } from "../data.js";

/** A request with its body, read whole. */
export interface ReadRequest {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** What is wrong with a request. @param keys Those that it may carry. */
export function problemsOf(
  request: ReadRequest,
  { asked }: Cell,
  keys: readonly string[],
): readonly string[] {
  const { method, url = "", headers } = request;
  const [path = "", query = ""] = url.split(/\?(.*)/s);
  const due = pathOf(asked.path, asked.arguments);
  const problems: string[] = [];
  if (method !== asked.method) problems.push(`the method is ${method} instead of ${asked.method}`);
  if (path !== due) problems.push(`the path is ${path} instead of ${due}`);
  problems.push(...parameterProblems(query, headers, asked));
  if (!keys.some((key) => headers.authorization === `Bearer ${key}`)) {
    problems.push("Authorization is not the Bearer key that is due");
  }
  return [...problems, ...contentProblems(request, asked)];
}

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
  if (!type.toLowerCase().startsWith(asked.contentType))
    return [`the content type is ${type} instead of ${asked.contentType}`];
  return asked.part === undefined
    ? bodyProblems(request, asked.arguments.body)
    : formProblems(request, asked.part, asked.arguments.file as File);
}

function pathOf(template: string, values: Readonly<Record<string, unknown>>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(`${values[name]}`));
}

interface File {
  readonly name: string;
  readonly content: string;
}

function bodyProblems({ body }: ReadRequest, due: unknown): readonly string[] {
  return isDeepStrictEqual(parsed(body.toString()), due)
    ? []
    : ["the body is not the JSON that was asked for"];
}

function formProblems({ body }: ReadRequest, part: string, { name, content }: File): readonly string[] {
  const text = body.toString();
  const problems: string[] = [];
  if (!new RegExp(`^content-disposition:[^\\r\\n]*;\\s*name="?${part}"?`, "im").test(text))
    problems.push(`the form has no part named ${part}`);
  if (!text.includes(name)) problems.push(`the form does not name the file ${name}`);
  if (!text.includes(content)) problems.push("the form does not hold the file's content");
  return problems;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
