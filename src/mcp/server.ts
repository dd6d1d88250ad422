// The operations of the contract as tools of the Model Context Protocol (`tunerank mcp`).
import { randomUUID } from "node:crypto";
import * as mcp from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { isStatusError, refusal } from "../errors/statusError.js";
import { type OperationId, operations, requests } from "../generated/contract.js";
import { tools } from "../generated/tools.js";
import { version } from "../generated/version.js";
import type { Client } from "../index.js";
import type { RequestRules } from "../options/validate.js";
import { redactorOf, redactValues } from "../redact/redact.js";
import { memberOf } from "../values.js";
import { type ClientInside, insideOf } from "../wrappers/types.js";
import { openBelow } from "./openBelow.js";

interface Served {
  readonly client: Client;
  /** The operations that are offered, by the names of their tools. */
  readonly offered: ReadonlyMap<string, OperationId>;
  /** The folder whose files may be uploaded. */
  readonly root: string;
  /** The keys to remove from everything that is said. */
  readonly secrets: readonly string[];
  readonly onerror: (error: Error) => void;
}

type Values = Readonly<Record<string, unknown>>;

interface Person {
  readonly answers: Values;
  /** The questions that wait, by their keys. A response counts once, and only for what was asked. */
  readonly asked: Map<string, string>;
  readonly canAsk: boolean;
  /** Aborts when the client cancels the tool's call. */
  readonly signal: AbortSignal;
}

const instructions =
  "An error says in `executed` whether the operation ran: no, unknown or yes. After unknown or yes, look before you call a tool again that is neither read-only nor idempotent. Safe retries were already made: `notRetried` says why there were no more. If there is a `retryAfterMs`, wait that long first.";

/** Serves the tools over stdin and stdout until the client closes the connection or `signal` aborts. */
export function serve(served: Served, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const transport = new StdioServerTransport(process.stdin, process.stdout);
    // The library closes the transport at the end of stdin, and after a message that is too large.
    const close = transport.close.bind(transport);
    transport.close = () => close().finally(resolve);
    // Shared, because the library creates one server for a probe and another one for the connection.
    const asked = new Map<string, string>();
    const connection = serveStdio(() => createServer(served, asked), { transport, onerror: served.onerror });
    signal.addEventListener("abort", () => void connection.close(), { once: true });
  });
}

function createServer(served: Served, asked: Person["asked"]): mcp.Server {
  const server = new mcp.Server({ name: "tunerank", version }, { capabilities: { tools: {} }, instructions });
  const redact = redactorOf(served.secrets);
  const listed = [...served.offered].map(([name, id]) => ({ name, ...tools[id] }) as unknown as mcp.Tool);
  server.setRequestHandler("tools/list", () => ({ tools: listed }));
  server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
    const id = served.offered.get(params.name);
    const declared = memberOf(mcpReq.envelope, mcp.CLIENT_CAPABILITIES_META_KEY);
    const { elicitation } = (declared as mcp.ClientCapabilities) ?? server.getClientCapabilities() ?? {};
    const canAsk = elicitation !== undefined && !(elicitation.url && !elicitation.form);
    try {
      if (id === undefined) throw refused("There is no tool with this name.");
      const person = { answers: mcpReq.inputResponses ?? {}, asked, canAsk, signal: mcpReq.signal };
      const said = await callTool(served, id, params.arguments ?? {}, person);
      if (mcp.isInputRequiredResult(said)) return said;
      const data = said instanceof Uint8Array ? Buffer.from(said).toString("base64") : (said ?? null);
      const shown = redactValues(redact, data);
      const content = [{ type: "text" as const, text: JSON.stringify(shown) }];
      return tools[id].outputSchema ? { content, structuredContent: shown as object } : { content };
    } catch (error) {
      const text = JSON.stringify(redactValues(redact, errorFields(error, id)));
      return { isError: true, content: [{ type: "text", text }] };
    }
  });
  return server;
}

/** The fields of an error that a model decides by. */
function errorFields(error: unknown, id: OperationId | undefined): object {
  if (!isStatusError(error)) return { code: "INTERNAL", message: String(error), executed: "unknown" };
  const { code, message, executed, notRetried, requestId, retryAfterMs } = error;
  const whenUnknown = executed === "unknown" && id ? operations[id].whenUnknown : undefined;
  return { code, message, executed, notRetried, requestId, retryAfterMs, whenUnknown };
}

function refused(text: string, hint?: string): Error {
  return refusal("FAILED_PRECONDITION", undefined, text, { notRetried: "refused", hint });
}

/** Makes the call of an operation. @returns Its value, or the question to a person that comes first */
async function callTool(to: Served, id: OperationId, given: Values, person: Person): Promise<unknown> {
  const { query, headers, file, optional }: RequestRules = requests[id];
  const { title, inputSchema } = tools[id];
  const wrong = Object.keys(given).find((name) => !Object.hasOwn(inputSchema.properties, name));
  if (wrong !== undefined && inputSchema.additionalProperties === false)
    throw refused(`There is no argument ${JSON.stringify(wrong)}.`);
  const [ids, parameters, body] = [{}, {}, {}];
  for (const [name, value] of Object.entries(given)) {
    const isPlaced = [query, headers].some((rules) => Object.hasOwn(rules?.properties ?? {}, name));
    const place = operations[id].path.includes(`{${name}}`) ? ids : isPlaced ? parameters : body;
    Object.assign(place, { [name]: value });
  }
  const opened = file === undefined ? undefined : await openBelow(to.root, given[file]);
  try {
    if (operations[id].kind !== "read") {
      const values = opened ? { ...given, [`${file}`]: opened.shown } : given;
      const sent = opened ? ["--body-file", opened.path] : ["--body", JSON.stringify(body)];
      const params = Object.entries(ids).flatMap(([name, value]) => ["--param", `${name}=${value}`]);
      const question = consent(`${title}?`, values, person, [id, ...params, ...sent]);
      if (question !== undefined) return question;
    }
    const own = { signal: person.signal, ...opened?.options };
    // The wrapper knows the default model.
    if (id === "rerankDocuments") return await to.client.rerank(body as never, own);
    const content = optional && Object.keys(body).length === 0 ? undefined : body;
    const input = { operation: id, ids, parameters, body: opened?.stream() ?? content };
    return await (insideOf(to.client) as ClientInside).callOperation(input, own);
  } finally {
    await opened?.close();
  }
}

/** Asks the person. @returns The question; undefined once it was accepted @throws StatusError if it was not */
function consent(
  title: string,
  values: Values,
  { answers, asked, canAsk }: Person,
  command: readonly string[],
): mcp.InputRequiredResult | undefined {
  // As JSON: a value cannot add a line of its own. Invisible characters are shown as codes.
  const codeOf = (character: string): string => `\\u{${character.codePointAt(0)?.toString(16)}}`;
  const told = Object.entries(values).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  const message = [title, ...told.map((line) => line.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, codeOf))].join("\n");
  const key = Object.keys(answers).find((each) => asked.get(each) === message);
  if (key !== undefined) {
    asked.delete(key);
    if (memberOf(answers[key], "action") === "accept") return undefined;
    throw refused("The person did not accept, so nothing was sent.", "Do not ask again.");
  }
  if (!canAsk) {
    const words = command.map((word) => `'${word.replaceAll("'", "'\\''")}'`);
    const hint = `A person can run: tunerank request ${words.join(" ")}`;
    throw refused("This client cannot ask a person, so nothing was sent.", hint);
  }
  const id = randomUUID();
  // The oldest question is forgotten when too many were never answered.
  for (const oldest of asked.keys()) if (asked.size >= 100) asked.delete(oldest);
  asked.set(id, message);
  const elicited = mcp.inputRequired.elicit({ message, requestedSchema: { type: "object", properties: {} } });
  return mcp.inputRequired({ inputRequests: { [id]: elicited } });
}
