import type { CallResponse, ServiceRequest } from "../index.js";
import { withClient } from "./client.js";
import { type Context, UsageError } from "./context.js";
import { readInput } from "./input.js";
import { jsonLine, jsonLines, oneLine } from "./safeText.js";
import type { Terminal } from "./terminal.js";

interface Options {
  readonly query?: readonly string[];
  readonly body?: string;
  readonly bodyFile?: string;
  readonly contentType?: string;
  readonly accept?: string;
  readonly repeatable?: boolean;
  readonly maxBytes?: number;
}

/** `tunerank request METHOD PATH` */
export async function run(context: Context<Options>): Promise<void> {
  const { args, options, signal, terminal } = context;
  const [method = "", path = ""] = args;
  const { accept, repeatable, maxBytes: maxResponseBytes } = options;
  const content = await contentOf(context);
  const request = { method, path, query: queryOf(options.query), accept, ...content } as ServiceRequest;
  await withClient(context, "request", async (client) => {
    const call = client.request(request, { signal, repeatable, maxResponseBytes });
    const answer = await call.withResponse();
    if (terminal.json) terminal.print(jsonLine(asJson(answer)));
    else print(answer, terminal);
  });
}

// A name may be given more than once.
function queryOf(pairs: readonly string[] = []): ServiceRequest["query"] {
  const query: Record<string, string[]> = Object.create(null);
  for (const pair of pairs) {
    const at = pair.indexOf("=");
    if (at < 1) throw new UsageError("--query must be NAME=VALUE.");
    const name = pair.slice(0, at);
    query[name] = [...(query[name] ?? []), pair.slice(at + 1)];
  }
  return query;
}

// JSON is checked and sent as it was written: reading it would round large numbers.
async function contentOf({ options, signal }: Context<Options>): Promise<Partial<ServiceRequest>> {
  const { body: text, bodyFile, contentType = "application/json" } = options;
  if (text !== undefined && bodyFile !== undefined) {
    throw new UsageError("--body and --body-file cannot be used together.");
  }
  if (text === undefined && bodyFile === undefined) {
    if (options.contentType !== undefined) throw new UsageError("--content-type needs a body.");
    return {};
  }
  const name = text === undefined ? "--body-file" : "--body";
  const body = text === undefined ? await readInput(bodyFile ?? "-", name, signal) : Buffer.from(text);
  if (text !== undefined || /[/+]json\b/i.test(contentType)) checkJson(body.toString("utf8"), name);
  return { body, contentType };
}

function checkJson(text: string, name: string): void {
  try {
    JSON.parse(text);
  } catch {
    throw new UsageError(`${name} is not JSON; a file of another kind needs --content-type.`);
  }
}

function asJson({ httpStatus, headers, data }: CallResponse<unknown>): object {
  const content =
    data instanceof Uint8Array ? { base64: Buffer.from(data).toString("base64") } : { data: data ?? null };
  return { status: httpStatus, headers, ...content };
}

function print({ data, httpStatus, headers }: CallResponse<unknown>, terminal: Terminal): void {
  const watched = terminal.columns > 0;
  if (data === undefined) {
    if (!terminal.quiet) terminal.note(`HTTP ${httpStatus}, without a body.`);
  } else if (data instanceof Uint8Array) {
    if (!watched) terminal.write(data);
    else
      terminal.note(oneLine(`${data.byteLength} bytes of ${headers["content-type"]}: send them to a file.`));
  } else if (typeof data === "string" && !isJson(headers)) {
    if (!watched) terminal.write(data);
    else for (const line of data.trimEnd().split("\n")) terminal.print(oneLine(line));
  } else terminal.print(jsonLines(data));
}

function isJson(headers: Readonly<Record<string, string>>): boolean {
  return /^[^;]*[/+]json\b/i.test(headers["content-type"] ?? "");
}
