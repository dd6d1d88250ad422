// `--dry-run`: runs a command with a `fetch` that sends nothing, and prints what the command would have sent.
import { estimatedTokens, redactorOf } from "../engine.js";
import { operations } from "../generated/contract.js";
import { operationOfCommand } from "./commandOptions.js";
import { type Context, type DryRun, orUndefined, Reported } from "./context.js";
import { counted, grouped, jsonLine, oneLine, type Terminal } from "./terminal.js";

/** Requests with one method and one URL. */
interface PlannedRequests {
  readonly method: string;
  readonly url: string;
  requests: number;
  /** The bytes of all bodies together. */
  bytes: number;
  documents?: number;
  estimatedTokens?: number;
}

interface FetchInit {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | Blob | AsyncIterable<Uint8Array>;
}

const estimate =
  "Tokens are estimated as a quarter of the bytes; what the service counts as a token is not documented.";

const mostRead = operations[operationOfCommand.rerank].maxResponseBytes;
const unreadable = `The response would have more than ${grouped(mostRead)} bytes, the most that is read: the documents would be ranked, and the result lost. Send them in parts with --batch-size.`;

class Plan implements DryRun {
  readonly #planned: Map<string, PlannedRequests> = new Map();
  #facts: object = {};
  #lines: readonly string[] = [];
  /** Whether a response would be too large to be read. The dry run ends there, as a real run would. */
  isUnreadable = false;

  tell(facts: object, lines: readonly string[]): void {
    this.#facts = facts;
    this.#lines = lines;
  }

  /** Records a request, and makes up a response that every operation accepts. */
  readonly fetch = async (url: string, init: unknown): Promise<Response> => {
    const { method, headers, body } = init as FetchInit;
    const text = typeof body === "string" ? body : undefined;
    const bytes = await sizeOf(body);
    const [, key = ""] = /^Bearer (.*)$/.exec(headers.authorization ?? "") ?? [];
    const planned = this.#at(method, redactorOf([key])(url));
    planned.requests += 1;
    planned.bytes += bytes;
    const { documents, top_n } = Object(text && orUndefined(() => JSON.parse(text)));
    if (!Array.isArray(documents)) return Response.json({ id: "dry-run" });
    planned.documents = (planned.documents ?? 0) + documents.length;
    planned.estimatedTokens = Math.ceil(estimatedTokens(planned.bytes));
    const data = documents.slice(0, top_n).map((_, index) => ({ index, relevance_score: 0 }));
    const response = JSON.stringify({ data });
    this.isUnreadable ||= response.length > mostRead;
    return new Response(response);
  };

  print(terminal: Terminal): void {
    const all = [...this.#planned.values()];
    const isEstimated = all.some(({ estimatedTokens }) => estimatedTokens !== undefined);
    if (terminal.json) {
      const estimated = isEstimated ? { estimate } : {};
      const noted = this.isUnreadable ? { note: unreadable } : {};
      terminal.print(jsonLine({ dryRun: true, requests: all, ...estimated, ...this.#facts, ...noted }));
      return;
    }
    const lines = [...all.map(lineOf), ...(isEstimated ? [estimate] : []), ...this.#lines];
    const noted = this.isUnreadable ? [unreadable] : [];
    for (const line of [...lines, ...noted, "Nothing was sent."]) terminal.print(oneLine(line));
  }

  #at(method: string, url: string): PlannedRequests {
    const name = `${method} ${url}`;
    const planned = this.#planned.get(name) ?? { method, url, requests: 0, bytes: 0 };
    this.#planned.set(name, planned);
    return planned;
  }
}

function lineOf({ method, url, requests, bytes, documents, estimatedTokens }: PlannedRequests): string {
  const facts = [counted(requests, "request"), counted(bytes, "byte")];
  if (documents !== undefined) facts.push(counted(documents, "document"));
  if (estimatedTokens !== undefined) facts.push(`about ${counted(estimatedTokens, "token")}`);
  return `Would send ${method} ${url}: ${facts.join(", ")}.`;
}

async function sizeOf(body: FetchInit["body"]): Promise<number> {
  if (body === undefined) return 0;
  if (typeof body === "string" || body instanceof Uint8Array) return Buffer.byteLength(body);
  // A file is read to its end, as an upload reads it, so that a file that cannot be read is reported.
  let size = 0;
  for await (const chunk of body instanceof Blob ? body.stream() : body) size += chunk.byteLength;
  return size;
}

// Options of every dry run: it asks no questions (`--yes`), and does not check the made-up response (`--verify`).
const without = { yes: true, verify: undefined };

/** Runs a command, and prints what it would have sent. @throws Reported with the exit code for invalid lines or files */
export async function dryRun(context: Context, run: (context: Context) => Promise<void>): Promise<void> {
  const { terminal, options } = context;
  const plan = new Plan();
  // The result is made up, so it is not printed.
  const nothing = (): void => {};
  const silent = { print: nothing, result: nothing, write: nothing, note: nothing };
  const muted = { ...terminal, ...silent, columns: 0, errorColumns: 0 };
  const ended = await run({
    ...context,
    options: { ...options, ...without },
    terminal: muted,
    dryRun: plan,
  }).catch((error: unknown) => error);
  const isToTell = ended instanceof Reported || (plan.isUnreadable && !context.signal.aborted);
  if (ended !== undefined && !isToTell) throw ended;
  plan.print(terminal);
  if (ended instanceof Reported) throw ended;
}
