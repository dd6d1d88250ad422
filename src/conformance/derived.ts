// The rows that are made of stored ones, for every operation: a call after one that failed, slow and early exchanges, and
// proxies. contract/conformance/README.md has their rules.
import type { Cell, CellResponse, Step, Via } from "./cell.js";

const good = "retries/success-at-once";

/** Changes a stored row; undefined if the row does not concern its operation. */
type Change = (cell: Cell) => Cell | undefined;
/** A row: the stored row that it is made of, and what it has of its own. */
type Derived = readonly [name: string, description: string, from: string, change: Change];

const rows: readonly Derived[] = [
  ["slow/request", "The server reads the request slowly.", good, slowly("read-slowly")],
  ["slow/bytes", "The server sends the body byte by byte.", "exchanges/non-ascii-answer", slowly("bytewise")],
  [
    "slow/pause",
    "The server stops for six seconds inside the body.",
    "exchanges/text-of-all-planes",
    slowly("halting"),
  ],
  ["slow/drip", "A byte each 100 ms: the attempt has a time.", "retries/body-stalls", dripping],
  ["slow/drip-past-deadline", "So with the deadline.", "retries/deadline-in-body", dripping],
  ["slow/unread", "The server never reads a file.", "retries/attempt-timeout", unread],
  ["slow/unread-past-deadline", "So with the deadline.", "retries/deadline", unread],
  ["early/response", "A valid response before JSON was read.", good, ofJson],
  ["early/rejected", "A 413 before the request was read.", "retries/status-413", slowly("early")],
  ["early/closed", "So, and then it closes.", "retries/status-413", slowly("early-closed", "early-close")],
  ["form/early-hints", "A 103 before the response.", good, slowly("hints")],
  ["form/continue", "A 100 that was not asked for.", good, slowly("continue", "status-100")],
  ["form/retry-after", "Numbers that no decimal is.", "retries/status-429-retry-after-malformed", malformed],
  ["form/deep", "JSON that is 150 levels deep.", good, deep],
  ["form/value", "A text or bytes of every kind.", good, ofEveryKind],
  ["form/trailers", "Chunks and trailers.", good, slowly("trailers")],
  ["form/until-closed", "The body ends with its connection.", good, slowly("until-closed")],
  ["proxy/tunnel", "A tunnel to an https address.", good, via({ scheme: "https" })],
  ["proxy/http", "An http address: a tunnel, too, or nothing is sent.", good, via({ scheme: "http" })],
  ["proxy/credentials", "The proxy asks for a password.", good, via({ scheme: "https", credentials: true })],
  ["proxy/429", "A tunnel is rejected with 429.", "retries/tunnel-refused", refused],
  ["proxy/silence", "No response to the request for a tunnel.", "retries/connect-stalls", unopened],
];

// NO_PROXY of rows that start a program, each of one operation only; `unused`: it excepts the service.
const environments: readonly (readonly [name: string, except: string, unused?: true])[] = [
  ["others", "vice.invalid,.service.invalid.example,other.invalid,service.invalid:8443"],
  ["name", "other.invalid, service.invalid", true],
  ["port", "service.invalid:443", true],
  ["suffix", ".invalid", true],
];

/** The derived rows of the stored ones. */
export function derivedCells(stored: readonly Cell[]): readonly Cell[] {
  const ofRow = (from: string): readonly Cell[] => stored.filter(({ id }) => id.startsWith(`${from}/`));
  return [
    ...rows.flatMap(([name, description, from, change]) =>
      ofRow(from).flatMap((cell) => {
        const changed = change(cell);
        return changed ? [{ ...changed, id: `${name}/${cell.operation}`, description }] : [];
      }),
    ),
    ...environments.flatMap((each) =>
      ofRow(good)
        .slice(0, 1)
        .map((cell) => inEnvironment(cell, ...each)),
    ),
    ...ofRow(good).flatMap((next) => afterFailures(stored, next)),
  ];
}

// Responses after which a client is likely to stop reading or to remember something; of the faults, every one.
const responses = /^retries\/(status-401-fresh-key|not-json-text|html|status-404|key-in-html)\//;

// A good call after each call of one request that fails without a retry.
function afterFailures(stored: readonly Cell[], next: Cell): readonly Cell[] {
  return stored.flatMap(({ id, description, operation, steps: [step, ...more], client, needs, expected }) => {
    const isOne = step !== undefined && more.length === 0 && expected.requests > 0;
    if (operation !== next.operation || !isOne || client.repeatable !== undefined) return [];
    if (!id.startsWith("retries/") || !("network" in step || responses.test(id))) return [];
    return {
      ...next,
      id: id.replace(/^retries/, "after"),
      description: `${description} Then a valid response to the next call.`,
      steps: [step, ...next.steps],
      client: { ...client, maxRetries: 0, calls: 2 },
      needs,
      expected: { requests: 2, requestsByCall: [1, 1], value: true as const },
    };
  });
}

// Changes the responses of a row.
function responding(cell: Cell, change: (response: CellResponse) => Partial<CellResponse>): Cell {
  const changed = (step: Step): Step =>
    "response" in step ? { response: { ...step.response, ...change(step.response) } } : step;
  return { ...cell, steps: cell.steps.map(changed) };
}

function slowly(manner: string, ...needs: readonly string[]): (cell: Cell) => Cell {
  return (cell) => ({
    ...responding(withFile(cell), ({ status, body }) => ({
      manner,
      body: body || (status < 300 ? "" : "{}"),
    })),
    needs: [...cell.needs, ...needs],
  });
}

// A 2xx that comes before all of a file was sent does not count yet, so an upload has no such row.
function ofJson(cell: Cell): Cell | undefined {
  return cell.asked.part === undefined ? slowly("early")(cell) : undefined;
}

// An upload has a file that no system's buffers hold.
function withFile(cell: Cell): Cell {
  const { asked } = cell;
  if (asked.part === undefined) return cell;
  const file = { name: "large.jsonl", base64: "eyJwcm9tcHQiOiAiYSJ9Cg==", bytes: 16 * 2 ** 20 };
  return { ...cell, asked: { ...asked, arguments: { ...asked.arguments, file } } };
}

function deep(cell: Cell): Cell | undefined {
  const { answer } = cell.asked;
  if (typeof answer !== "object") return undefined;
  const body = JSON.stringify({ ...answer, deep: 0 }).replace(/0}$/, `${"[".repeat(149)}${"]".repeat(149)}}`);
  return { ...responding(cell, () => ({ body })), comparedFor: { "unknown-members": ["/deep"] } };
}

// The response of an operation whose value is no JSON.
function ofEveryKind(cell: Cell): Cell | undefined {
  const { answer, answerType = "" } = cell.asked;
  if (typeof answer !== "string") return undefined;
  const text = 'Zürich — 日本語 😀 \u0000\t\r\n{} </p> "\ufeff ';
  const bytes = Uint8Array.from({ length: 256 }, (_, byte) => 255 - byte);
  return responding(cell, () => ({ body: answerType.startsWith("text/") ? text : bytes }));
}

function malformed(cell: Cell): Cell {
  return responding(cell, () => ({ headers: { "retry-after": ["1e3", "+5", "0x10"] } }));
}

// What a client may take longer than the time that it is given, in milliseconds.
const lateMs = 3000;

function dripping(cell: Cell): Cell {
  const max = 2 * cell.expected.requests * (cell.client.attemptTimeoutMs ?? 0) + lateMs;
  return {
    ...cell,
    steps: [{ network: "body-drips" }],
    expected: { ...cell.expected, tookMs: { min: 0, max } },
  };
}

function unread(cell: Cell): Cell | undefined {
  return cell.asked.part === undefined
    ? undefined
    : { ...withFile(cell), steps: [{ network: "request-unread" }] };
}

function via(place: Via): (cell: Cell) => Cell {
  const isHttp = place.scheme === "http";
  const needs = [...(isHttp ? [] : ["ca-certificate"]), ...(place.credentials ? ["proxy-credentials"] : [])];
  return (cell) => ({
    ...cell,
    via: place,
    needs: [...cell.needs, "proxy", ...needs],
    expected: isHttp ? { ...cell.expected, orRefused: true } : cell.expected,
  });
}

function refused(cell: Cell): Cell {
  return { ...cell, via: { scheme: "https", refusal: 429 } };
}

function unopened({ expected: { codeSource: _, ...expected }, ...cell }: Cell): Cell {
  return {
    ...cell,
    via: { scheme: "https", refusal: "none" },
    needs: ["proxy", "tunnel-timeout"],
    client: { connectTimeoutMs: 300, attemptTimeoutMs: 300 },
    expected: { ...expected, tookMs: { min: 0, max: 2 * 3 * 300 + lateMs } },
  };
}

function inEnvironment(cell: Cell, name: string, except: string, unused?: true): Cell {
  return {
    ...cell,
    id: `proxy/environment-${name}/${cell.operation}`,
    description: `The environment names the proxy, and NO_PROXY is "${except}".`,
    via: { scheme: "https", environment: { except, ...(unused && { unused }) } },
    needs: ["proxy-environment", "ca-certificate"],
    client: { programs: 1 },
    // Without the proxy the name is looked up, and does not exist.
    expected: unused ? { requests: 0, attempts: "any", code: "UNAVAILABLE", executed: "no" } : cell.expected,
  };
}
