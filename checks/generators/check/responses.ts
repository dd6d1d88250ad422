import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import type { ErrorRow as ConformanceRow } from "../../../src/conformance/data.js";
import { generators, root } from "./folders.js";

/** An error response of the conformance data. */
export type ErrorRow = Pick<ConformanceRow, "name" | "status" | "headers" | "body" | "bodyBase64">;

/** What the mock sends besides the first example of each operation. */
export interface KnownResponses {
  /** The jobs that every caller reads, by the id it asks for. */
  readonly jobs: Readonly<Record<string, unknown>>;
  /** The errors whose status every caller hands on: that of deployment `error-N` is row N. */
  readonly errors: readonly ErrorRow[];
}

interface Contract {
  readonly paths: Readonly<Record<string, { readonly post?: Operation }>>;
}

interface Operation {
  readonly responses: { readonly "200": { readonly content: { readonly "application/json": Media } } };
}

interface Media {
  readonly schema: { readonly $ref: string };
  readonly examples: Examples;
}

type Examples = Readonly<Record<string, { readonly value: unknown }>>;

/** The example jobs of a document, the two of this folder, and the error responses of the conformance data. */
export async function readResponses(document: string): Promise<KnownResponses> {
  const contract: Contract = parse(await readFile(document, "utf8"));
  const responses = Object.values(contract.paths).map(
    ({ post }) => post?.responses["200"].content["application/json"],
  );
  const { examples = {} } =
    responses.find((each) => each?.schema.$ref.endsWith("/ReinforcementFineTuningJob")) ?? {};
  const jobs = Object.entries(examples).map(([name, { value }]) => [name, value] as const);
  const { rows } = await readJson<{ rows: ErrorRow[] }>(join(root, "contract/conformance/errors.json"));
  return {
    jobs: {
      ...Object.fromEntries(jobs),
      newer: await readJson(join(generators, "jobs/newer.json")),
      nulls: await readJson(join(generators, "jobs/nulls.json")),
    },
    errors: rows.filter(({ status }) => typeof status === "number"),
  };
}

async function readJson<T>(path: string): Promise<T> {
  return JSON.parse(await readFile(path, "utf8")) as T;
}
