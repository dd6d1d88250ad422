// `--dry-run`: runs a command with a `fetch` that sends nothing, and prints what the command would have sent.
import { estimatedTokens, redactorOf } from "../engine.js";
import { type Context, type DryRun, orUndefined, Reported } from "./context.js";
import { counted, jsonLine, oneLine, type Terminal } from "./terminal.js";

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
  readonly body?: string | Blob | AsyncIterable<Uint8Array>;
}

const estimate =
  "Tokens are estimated as a quarter of the bytes; what the service counts as a token is not documented.";

class Plan implements DryRun {
  readonly #planned: Map<string, PlannedRequests> = new Map();
  #facts: object = {};
  #lines: readonly string[] = [];

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
    return Response.json({
      data: documents.slice(0, top_n).map((_, index) => ({ index, relevance_score: 0 })),
    });
  };

  print(terminal: Terminal): void {
    const all = [...this.#planned.values()];
    const isEstimated = all.some(({ estimatedTokens }) => estimatedTokens !== undefined);
    if (terminal.json) {
      const estimated = isEstimated ? { estimate } : {};
      terminal.print(jsonLine({ dryRun: true, requests: all, ...estimated, ...this.#facts }));
      return;
    }
    const lines = [...all.map(lineOf), ...(isEstimated ? [estimate] : []), ...this.#lines];
    for (const line of [...lines, "Nothing was sent."]) terminal.print(oneLine(line));
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
  if (typeof body === "string") return Buffer.byteLength(body);
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
  if (ended !== undefined && !(ended instanceof Reported)) throw ended;
  plan.print(terminal);
  if (ended !== undefined) throw ended;
}
