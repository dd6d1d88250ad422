// Whether a request is the one that the operation asks for.
import { isDeepStrictEqual } from "node:util";
import type { Cell } from "../cells.js";

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
  const { method, url, headers } = request;
  const path = pathOf(asked.path, asked.arguments);
  const problems: string[] = [];
  if (method !== asked.method) problems.push(`the method is ${method} instead of ${asked.method}`);
  if (url !== path) problems.push(`the path is ${url} instead of ${path}`);
  if (!keys.some((key) => headers.authorization === `Bearer ${key}`)) {
    problems.push("Authorization is not the Bearer key that is due");
  }
  const type = `${headers["content-type"] ?? "none"}`;
  if (!type.toLowerCase().startsWith(asked.contentType)) {
    problems.push(`the content type is ${type} instead of ${asked.contentType}`);
  } else problems.push(...bodyProblems(request, asked.arguments));
  return problems;
}

function pathOf(template: string, values: Readonly<Record<string, unknown>>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(`${values[name]}`));
}

interface File {
  readonly name: string;
  readonly content: string;
}

function bodyProblems({ body }: ReadRequest, asked: Readonly<Record<string, unknown>>): readonly string[] {
  const text = body.toString();
  if (asked.file === undefined) {
    return isDeepStrictEqual(parsed(text), asked.body) ? [] : ["the body is not the JSON that was asked for"];
  }
  const { name, content } = asked.file as File;
  const problems: string[] = [];
  if (!/^content-disposition:[^\r\n]*;\s*name="?file"?/im.test(text))
    problems.push("the form has no part named file");
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
