// docs/guide/certify.md lists what a run cannot see: each point is held to the rows, and is taken out once a row sees it.
import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import type { ExchangeRow, RetryRow } from "../../src/conformance/data.js";
import { backoff } from "../../src/policy/decisions.js";
import { conformanceFile } from "../support/decisionRows.js";
import { root } from "../support/project.js";

const read = (file: string): string => readFileSync(path.join(root, file), "utf8");
const { rows: exchanges } = conformanceFile("exchanges.json") as { rows: readonly ExchangeRow[] };
const { rows: retries } = conformanceFile("retries.json") as { rows: readonly RetryRow[] };
const runner = [
  ...["cells", "compare", "data", "outcome", "runner", "session"].map((name) => `${name}.ts`),
  ...["checkRequest", "connectionFaults", "exchange", "serveCell"].map((name) => `serve/${name}.ts`),
]
  .map((file) => read(`src/conformance/${file}`))
  .join("\n");

const mostRetries = Math.max(
  ...[...retries, ...exchanges].flatMap(({ operations }) =>
    Object.values(operations).map(({ expected, ...own }: Record<string, unknown>) => {
      const { requests = 1, requestsByCall } = { ...own, ...(expected as object) } as Record<string, number>;
      return requestsByCall === undefined ? (requests ?? 1) - 1 : 2;
    }),
  ),
);
const files = exchanges.flatMap(({ large, operations }) =>
  Object.values(operations).map((own) => ({ large, ...(own.arguments?.file as { bytes?: number }) })),
);
const jitter = exchanges.flatMap(({ expected, operations }) =>
  [expected, ...Object.values(operations).map((own) => own.expected)].flatMap((each) => each?.waits ?? []),
);

/** What each point of the list says of the rows and the runner, by its first words. */
const unseen: Readonly<Record<string, () => boolean>> = {
  "a wait that never reaches its limit": () => backoff.baseMs * 2 ** mostRetries < backoff.capMs,
  "a first wait that may be up to twice the allowed maximum": () =>
    jitter.some(({ retry, maxMeanMs }) => retry === 1 && maxMeanMs > backoff.baseMs),
  "a default deadline that is a few seconds": () =>
    exchanges.some(({ name, operations }) =>
      Object.values(operations).some(
        ({ expected }) => name === "default-deadline" && (expected?.tookMs?.max ?? 0) >= 35_000,
      ),
    ),
  "a random seed taken from the clock in seconds": () =>
    exchanges.some(({ needs }) => needs?.includes("two-programs")) && !/programStarts/.test(runner),
  "a mistake in the timing that happens by chance, if the machine is busy": () =>
    /mostServings = 4;/.test(runner),
  "what a client logs or stores": () => !/^ {2}(log|logs|files): \[/m.test(runner),
  "what the client sends more than a second after a call was aborted": () => /graceMs = 1000/.test(runner),
  "a file of more than 17 MB": () =>
    files.every(({ large, bytes = 0 }) => large === true || bytes <= 17_000_003),
  "HTTP/2 and HTTP/3, IPv6": () => !/node:http2|::1/.test(runner),
  "a compressed response in `zstd`": () => !/zstd/.test(runner),
  "unexpected bytes after a response on its connection": () =>
    exchanges.some(({ needs }) => needs?.includes("bytes-behind")),
};

test("the guide lists what a run cannot see, and each point holds of the rows", () => {
  const [, list = ""] = /What a run cannot see:\n\n((?:- .*\n)+)/.exec(read("docs/guide/certify.md")) ?? [];
  const points = list
    .trim()
    .split("\n")
    .map((line) => line.slice(2));
  expect(
    points.map((point) => Object.keys(unseen).find((start) => point.startsWith(start)) ?? point),
  ).toEqual(Object.keys(unseen));
  expect(Object.keys(unseen).filter((start) => !unseen[start]?.())).toEqual([]);
});
