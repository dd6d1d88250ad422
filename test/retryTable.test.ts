import { Ajv2020 } from "ajv/dist/2020.js";
import { beforeAll, describe, expect, test } from "vitest";
import type { Client, ClientOptions, OperationId, StatusError } from "../src/index.js";
import { canaryKey } from "./support/canary.js";
import { connect, failureOf, type OperationCall, operationCalls, transports } from "./support/clients.js";
import { conformanceFile, type DecisionRow, decisionRows } from "./support/decisionRows.js";
import { ServerOfRow } from "./support/rowServer.js";

// Node's fetch takes no name server and no connection timeout of the caller's.
const hiddenFromFetch: ReadonlySet<string> = new Set([
  "name-not-found",
  "name-server-busy",
  "connect-stalls",
]);

interface Seen {
  readonly requests: number;
  readonly error: StatusError;
}

interface Run {
  readonly transport: string;
  readonly operation: OperationId;
  readonly row: DecisionRow;
  readonly act: () => Promise<Seen>;
}

const runs: readonly Run[] = transports.flatMap(({ name, options }) =>
  operationCalls.flatMap((call) =>
    decisionRows
      .filter(
        ({ server }) => !(name === "fetch" && "network" in server && hiddenFromFetch.has(server.network)),
      )
      .map((row) => ({
        transport: name,
        operation: call.operation,
        row,
        act: () => act(call, row, options),
      })),
  ),
);

// Waits are real: all rows wait side by side, each with a server and a client of its own.
const atOnce = 100;
const seen = new Map<Run, Seen>();

beforeAll(async () => {
  const left = [...runs];
  const worker = async (): Promise<void> => {
    for (let run = left.shift(); run; run = left.shift()) seen.set(run, await run.act());
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
});

async function act({ call }: OperationCall, row: DecisionRow, options: ClientOptions): Promise<Seen> {
  const server = await new ServerOfRow(row.server).start();
  const { apiKey, abort, repeatable, ...rest } = row.client ?? {};
  let client: Client | undefined;
  try {
    client = connect(server.options.baseUrl, {
      maxRetries: 2,
      ...options,
      ...server.options,
      ...rest,
      ...(apiKey && { apiKey: () => canaryKey }),
    });
    const controller = new AbortController();
    if (abort === "before") controller.abort();
    // The answer's beginning needs a moment to arrive.
    else if (abort) server.events.once(abort, () => setTimeout(() => controller.abort(), 200));
    const { signal } = controller;
    const running = client;
    const error = await failureOf(() => call(running, { signal, repeatable }));
    return { requests: server.requests, error };
  } finally {
    await client?.close();
    await server.close();
  }
}

describe.each(transports)("over $name", ({ name: transport }) => {
  describe.each(operationCalls)("$operation", ({ operation }) => {
    test.each(runs.filter((run) => run.transport === transport && run.operation === operation))(
      "$row.event: $row.description",
      (run) => {
        const { row } = run;
        const { requests, attempts = requests, code, executed, inferred } = row.operations[operation];
        const found = seen.get(run);
        expect(found?.requests).toBe(requests * sendings(transport, row));
        expect(found?.error).toMatchObject({ operation, code, inferred, codeSource: row.codeSource });
        expect(found?.error.attempts.map((attempt) => attempt.number)).toEqual(upTo(attempts));
        expect(allowed(transport, row, executed)).toContain(found?.error.executed);
      },
    );
  });
});

// The fetch standard has fetch itself repeat what a 421 refused, once on another connection.
function sendings(transport: string, { server }: DecisionRow): number {
  return transport === "fetch" && "answer" in server && server.answer.status === 421 ? 2 : 1;
}

// A fetch function tells less of the network: it may not know that nothing ran, never the reverse.
function allowed(transport: string, { server }: DecisionRow, executed: string): readonly string[] {
  return transport === "fetch" && "network" in server && executed === "no" ? ["no", "unknown"] : [executed];
}

function upTo(count: number): readonly number[] {
  return Array.from({ length: count }, (_, i) => i + 1);
}

describe("the conformance data", () => {
  test.each(["retries", "errors"])("%s.json is what its schema describes", (name) => {
    const schema = conformanceFile(`${name}.schema.json`) as object;
    const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, strictRequired: false, allErrors: true });
    ajv.validate(schema, conformanceFile(`${name}.json`));
    expect(ajv.errors).toBeNull();
  });

  test("names every event once", () => {
    const events = decisionRows.map(({ event }) => event);
    expect(new Set(events).size).toBe(events.length);
  });
});
