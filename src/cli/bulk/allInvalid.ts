// If all requests of a bulk run are invalid in the same way, an option is probably wrong. The run says so, and stops after
// the first 20, before anything is sent.
import { checkSpelling, validate } from "../../engine.js";
import { requests } from "../../generated/contract.js";
import { isStatusError, type RerankRequest } from "../../index.js";
import { UsageError } from "../context.js";
import { named } from "../terminal.js";
import type { BulkRequest } from "./bulkRequest.js";

export type RequestToSend = RerankRequest & { readonly id: BulkRequest };

const judged = 20;
const mostNames = 12;

/**
 * Yields all requests unchanged.
 * @param tell Is told, before the first one, if they are fewer than 20 and all invalid in the same way
 * @throws UsageError before the first one, if the first 20 are invalid in the same way
 */
export async function* startingWell(
  all: AsyncIterable<RequestToSend>,
  tell: (text: string) => void,
): AsyncGenerator<RequestToSend> {
  let held: RequestToSend[] | undefined = [];
  let fault: string | undefined;
  for await (const request of all) {
    if (held === undefined) {
      yield request;
      continue;
    }
    const found = faultOf(request.id);
    held.push(request);
    if (found !== undefined && found === (fault ?? found)) {
      if (held.length === judged)
        throw new UsageError(textOf(found, held[0] as RequestToSend, `The first ${judged} requests are all`));
      fault = found;
      continue;
    }
    yield* held;
    held = undefined;
  }
  if (held === undefined) return;
  const [first] = held;
  const which = held.length === 1 ? "The only request is" : `All ${held.length} requests are`;
  if (first !== undefined && fault !== undefined) tell(textOf(fault, first, which));
  yield* held;
}

/** Why the client would reject a request; undefined if it is valid. */
export function faultOf({ body }: BulkRequest): string | undefined {
  const rules = requests.rerankDocuments.body;
  try {
    validate(body, rules, "body");
    checkSpelling(body, rules.properties, "body");
    return undefined;
  } catch (error) {
    if (!isStatusError(error)) throw error;
    return error.text;
  }
}

function textOf(fault: string, { id: { line, fields, body } }: RequestToSend, which: string): string {
  const names = Object.keys(fields);
  const more = names.length > mostNames ? " and others" : "";
  const shown = names.slice(0, mostNames).map(named).join(", ");
  return `${which} invalid: ${fault} Line ${line} has ${shown}${more}${adviceFor(fault, fields, body)}. Nothing was sent.`;
}

// If exactly one field of the line could hold the query or the documents, the advice names that field.
function adviceFor(
  fault: string,
  fields: Readonly<Record<string, unknown>>,
  body: BulkRequest["body"],
): string {
  if (/\bdocuments\[\d+\] must be a string\b/.test(fault))
    return "; if documents are objects, name the field that holds their text with --text-field";
  const field = (["query", "documents"] as const).find((name) => fault.includes(name));
  if (field === undefined) return "";
  const fits = (value: unknown): boolean =>
    field === "query" ? typeof value === "string" : Array.isArray(value);
  // The field is there, and what is invalid is in it.
  if (fits(body[field])) return "";
  const fitting = Object.keys(fields).filter((name) => name !== "id" && fits(fields[name]));
  const [only] = fitting.length === 1 ? fitting : [];
  return only === undefined
    ? `; name the field that holds the ${field} with --${field}-field`
    : `; use --${field}-field ${named(only)}`;
}
