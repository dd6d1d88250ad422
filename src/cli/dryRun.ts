// `--dry-run`: runs a command with a `fetch` that sends nothing, and prints what the command would have sent.
import { estimatedTokens } from "../engine.js";
import { type Context, orUndefined, Reported } from "./context.js";
import { counted } from "./terminal.js";

/** Requests with one method and one URL, and the sum of their bodies. */
type Planned = Record<"method" | "url", string> &
  Record<"requests" | "bytes", number> &
  Partial<Record<"documents" | "estimatedTokens", number>>;

interface FetchInit {
  readonly method: string;
  readonly body?: string | Uint8Array | Blob | AsyncIterable<Uint8Array>;
}

const estimate =
  "Tokens are estimated as a quarter of the bytes; what the service counts as a token is not documented.";

/** Runs a command, and prints what it would have sent. @throws Reported with the exit code for invalid lines or files */
export async function dryRun(context: Context, run: (context: Context) => Promise<void>): Promise<void> {
  const { terminal, options } = context;
  const planned = new Map<string, Planned>();
  let [facts, told]: [object, readonly string[]] = [{}, []];
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
    return Response.json({ data });
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
  // A made-up response that could not be used, as one that is too large, ends the run where a real one would.
  const isToTell = ended instanceof Reported || Object(ended).executed === "yes";
  if (ended !== undefined && !isToTell) throw ended;
  const all = [...planned.values()];
  const isEstimated = all.some(({ estimatedTokens }) => estimatedTokens !== undefined);
  const estimated = isEstimated ? { estimate } : {};
  if (terminal.json) terminal.printJson({ dryRun: true, requests: all, ...estimated, ...facts });
  else {
    for (const { method, url, requests, bytes, documents, estimatedTokens } of all) {
      const parts = [counted(requests, "request"), counted(bytes, "byte")];
      if (documents !== undefined) parts.push(counted(documents, "document"));
      if (estimatedTokens !== undefined) parts.push(`about ${counted(estimatedTokens, "token")}`);
      terminal.print(`Would send ${method} ${url}: ${parts.join(", ")}.`);
    }
    for (const line of [...Object.values(estimated), ...told, "Nothing was sent."]) terminal.print(line);
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
