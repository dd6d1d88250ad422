// `--dry-run`: runs a command with a `fetch` that sends nothing, and prints what the command would have sent.
import { estimatedTokens } from "../engine.js";
import { type Context, orUndefined, RunEnded } from "./context.js";
import { counted } from "./terminal.js";

/** Requests with one method and one URL, and the sum of their bodies. */
type Planned = Record<"method" | "url", string> & Record<"requests" | "bytes", number> & Partial<Estimated>;
type Estimated = Record<"documents" | "estimatedTokens", number>;

const estimate =
  "Tokens are estimated as a quarter of the bytes; what the service counts as a token is not documented.";

export async function dryRun(context: Context, run: (context: Context) => Promise<void>): Promise<void> {
  const { terminal, options } = context;
  const planned = new Map<string, Planned>();
  let [facts, told]: [object, readonly string[]] = [{}, []];
  // Records a request, and makes up a response that every operation accepts.
  const fetch = async (url: string, init: unknown): Promise<Response> => {
    const { method, body = "" } = init as {
      method: string;
      body?: string | Uint8Array | AsyncIterable<Buffer>;
    };
    const plan = planned.get(`${method} ${url}`) ?? { method, url, requests: 0, bytes: 0 };
    planned.set(`${method} ${url}`, plan);
    plan.requests += 1;
    if (typeof body === "string" || body instanceof Uint8Array) plan.bytes += Buffer.byteLength(body);
    // A file is read to its end, as an upload reads it, so that a file that cannot be read is reported.
    else for await (const { length } of body instanceof Blob ? body.stream() : body) plan.bytes += length;
    const { documents, top_n } = Object(typeof body === "string" && orUndefined(() => JSON.parse(body)));
    if (!Array.isArray(documents)) return Response.json({ id: "dry-run" });
    plan.documents = (plan.documents ?? 0) + documents.length;
    plan.estimatedTokens = Math.ceil(estimatedTokens(plan.bytes));
    const data = documents.slice(0, top_n).map((_, index) => ({ index, relevance_score: 0 }));
    return Response.json({ data });
  };
  // The result is made up, so it is not printed.
  const nothing = (): void => {};
  const printing = { print: nothing, printJson: nothing, result: nothing, write: nothing, note: nothing };
  const silent = { ...printing, redraw: nothing, columns: 0, errorColumns: 0 };
  const ended = await run({
    ...context,
    // A dry run asks no questions, and does not check the made-up response.
    options: { ...options, yes: true, verify: false },
    terminal: { ...terminal, ...silent },
    dryRun: {
      fetch,
      tell(more, lines) {
        [facts, told] = [more, lines];
      },
    },
  }).catch((error: unknown) => error);
  // A made-up response that could not be used, as one that is too large, ends the run where a real one would.
  const isToTell = ended instanceof RunEnded || Object(ended).executed === "yes";
  if (ended !== undefined && !isToTell) throw ended;
  const requests = [...planned.values()];
  const isEstimated = requests.some(({ estimatedTokens }) => estimatedTokens !== undefined);
  const lines = requests.map(({ method, url, requests, bytes, documents, estimatedTokens }) => {
    const parts = [counted(requests, "request"), counted(bytes, "byte")];
    if (documents !== undefined) parts.push(counted(documents, "document"));
    if (estimatedTokens !== undefined) parts.push(`about ${counted(estimatedTokens, "token")}`);
    return `Would send ${method} ${url}: ${parts.join(", ")}.`;
  });
  lines.push(...(isEstimated ? [estimate] : []), ...told, "Nothing was sent.");
  terminal.result({ dryRun: true, requests, ...(isEstimated && { estimate }), ...facts }, lines);
  if (ended instanceof RunEnded) throw ended;
}
