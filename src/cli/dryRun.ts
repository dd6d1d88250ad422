// `--dry-run`: runs a command with a `fetch` that sends nothing, and prints what the command would have sent.
import { estimatedTokens } from "../engine.js";
import { operations } from "../generated/contract.js";
import { type Context, orUndefined, Reported } from "./context.js";
import { counted, grouped } from "./terminal.js";

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
  readonly body?: string | Uint8Array | Blob | AsyncIterable<Uint8Array>;
}

const estimate =
  "Tokens are estimated as a quarter of the bytes; what the service counts as a token is not documented.";
const mostRead = operations.rerankDocuments.maxResponseBytes;
const unreadable = `The response would have more than ${grouped(mostRead)} bytes, the most that is read: the documents would be ranked, and the result lost. Send them in parts with --batch-size.`;

/** Runs a command, and prints what it would have sent. @throws Reported with the exit code for invalid lines or files */
export async function dryRun(context: Context, run: (context: Context) => Promise<void>): Promise<void> {
  const { terminal, options } = context;
  const planned = new Map<string, PlannedRequests>();
  let [facts, told]: [object, readonly string[]] = [{}, []];
  // Whether a response would be too large to be read. The dry run ends there, as a real run would.
  let isUnreadable = false;
  // Records a request, and makes up a response that every operation accepts.
  const fetch = async (url: string, init: unknown): Promise<Response> => {
    const { method, body } = init as FetchInit;
    const plan = planned.get(`${method} ${url}`) ?? { method, url, requests: 0, bytes: 0 };
    planned.set(`${method} ${url}`, plan);
    const bytes = await sizeOf(body);
    plan.requests += 1;
    plan.bytes += bytes;
    const { documents, top_n } = Object(typeof body === "string" && orUndefined(() => JSON.parse(body)));
    if (!Array.isArray(documents)) return Response.json({ id: "dry-run" });
    plan.documents = (plan.documents ?? 0) + documents.length;
    plan.estimatedTokens = Math.ceil(estimatedTokens(plan.bytes));
    const data = documents.slice(0, top_n).map((_, index) => ({ index, relevance_score: 0 }));
    const response = JSON.stringify({ data });
    isUnreadable ||= response.length > mostRead;
    return new Response(response);
  };
  // The result is made up, so it is not printed.
  const nothing = (): void => {};
  const silent = { print: nothing, printJson: nothing, result: nothing, write: nothing, note: nothing };
  const ended = await run({
    ...context,
    // A dry run asks no questions, and does not check the made-up response.
    options: { ...options, ...{ yes: true, verify: undefined } },
    terminal: { ...terminal, ...silent, redraw: nothing, columns: 0, errorColumns: 0 },
    dryRun: {
      fetch,
      tell(more, lines) {
        [facts, told] = [more, lines];
      },
    },
  }).catch((error: unknown) => error);
  const isToTell = ended instanceof Reported || (isUnreadable && !context.signal.aborted);
  if (ended !== undefined && !isToTell) throw ended;
  const all = [...planned.values()];
  const isEstimated = all.some(({ estimatedTokens }) => estimatedTokens !== undefined);
  const estimated = isEstimated ? { estimate } : {};
  const noted = isUnreadable ? { note: unreadable } : {};
  if (terminal.json) terminal.printJson({ dryRun: true, requests: all, ...estimated, ...facts, ...noted });
  else {
    for (const { method, url, requests, bytes, documents, estimatedTokens } of all) {
      const parts = [counted(requests, "request"), counted(bytes, "byte")];
      if (documents !== undefined) parts.push(counted(documents, "document"));
      if (estimatedTokens !== undefined) parts.push(`about ${counted(estimatedTokens, "token")}`);
      terminal.print(`Would send ${method} ${url}: ${parts.join(", ")}.`);
    }
    for (const line of [...Object.values(estimated), ...told, ...Object.values(noted), "Nothing was sent."])
      terminal.print(line);
  }
  if (ended instanceof Reported) throw ended;
}

async function sizeOf(body: FetchInit["body"]): Promise<number> {
  if (body === undefined) return 0;
  if (typeof body === "string" || body instanceof Uint8Array) return Buffer.byteLength(body);
  // A file is read to its end, as an upload reads it, so that a file that cannot be read is reported.
  let size = 0;
  for await (const chunk of body instanceof Blob ? body.stream() : body) size += chunk.byteLength;
  return size;
}
