// A cell is one row of the conformance data for one operation: the call that a client makes, the responses and faults
// that it meets, and the expected outcome.
import { memberOf } from "../values.js";
import type { OperationData, RowClient, RowExchange, RowExpected, RowResponse } from "./data.js";

export interface Cell {
  readonly id: string;
  readonly description: string;
  readonly operation: string;
  readonly asked: OperationData;
  /** What the server does with each request; the last step is for all further requests. */
  readonly steps: readonly Step[];
  readonly client: RowClient;
  readonly needs: readonly string[];
  readonly expected: RowExpected;
  /** The expected path, byte by byte; without it, the operation's path filled with the arguments. */
  readonly path?: string | undefined;
  /** The path that follows the host in the client's base URL. */
  readonly basePath?: string | undefined;
  readonly large?: true | undefined;
  /** How the client reaches the service, if not by its address. */
  readonly via?: Via;
  readonly connections?: true | undefined;
  readonly comparedFor?: RowExchange["comparedFor"];
}

/** The name that the service has behind a proxy. It never exists, so a client can reach it by the proxy alone. */
export const proxiedHost = "service.invalid";

/** A proxy, behind which the service has this name. */
export interface Via {
  readonly scheme: "http" | "https";
  /** The response to a request for a tunnel: a status, or none at all. @default the tunnel is opened */
  readonly refusal?: number | "none";
  /** Whether the proxy wants the name and the password that its URL has. */
  readonly credentials?: true;
  /** NO_PROXY, if the environment names the proxy; `unused` if it excepts the service. */
  readonly environment?: { readonly except: string; readonly unused?: true };
}

export interface CellResponse extends Pick<RowResponse, "gzip" | "coding" | "after"> {
  readonly status: number;
  readonly headers: NonNullable<RowResponse["headers"]>;
  /** How the exchange goes, of the ways in serve/exchange.ts. @default in one piece */
  readonly manner?: string;
  /** In a string, `{apiKey}` is replaced by the API keys of the row. */
  readonly body: string | Uint8Array;
}

export type Step = { readonly response: CellResponse } | { readonly network: string };

export const responseIn = (step: Step | undefined): CellResponse | undefined =>
  step && "response" in step ? step.response : undefined;

/** The calls of a cell that are made at the same time, each as a cell: `{n}` in its texts is the call's number, from 1. */
export function callsIn(cell: Cell): readonly Cell[] {
  const { asked, steps, client } = cell;
  if (client.parallel === undefined) return [cell];
  return Array.from({ length: client.parallel }, (_, index) => {
    const numbered = JSON.stringify({ asked, steps }).replaceAll("{n}", `${index + 1}`);
    return { ...cell, ...(JSON.parse(numbered) as Pick<Cell, "asked" | "steps">) };
  });
}

/** The object or list with the member that a JSON Pointer names, and its name; undefined if there is none. */
export function placeOf(value: unknown, pointer: string): [Record<string, unknown> | undefined, string] {
  const names = pointer.slice(1).split("/");
  const last = names.pop() ?? "";
  return [names.reduce(memberOf, value) as Record<string, unknown> | undefined, last];
}
