import { writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { errors, input, output, queryOf, rankingOf, rowsOf, useBulkFiles } from "../../support/bulkFiles.js";
import { useRecordingServer } from "../../support/recordingServer.js";

const server = useRecordingServer();
const bulk = useBulkFiles(server, "--concurrency", "1");

const write = (queries: readonly string[], documents: readonly string[] = ["one", "two"]): Promise<void> =>
  writeFile(input, queries.map((id) => `${JSON.stringify({ id, query: id, documents })}\n`).join(""));

/** Rejects the request `bad` for good; responds to `last` as long as it is told that this is the first run with a refused key. */
function replies(state: { isFirst: boolean }): void {
  server.reply((request) => {
    if (queryOf(request) === "bad")
      return { status: 400, json: { code: "INVALID_ARGUMENT", message: "No." } };
    if (queryOf(request) === "last" && state.isFirst) return { status: 401 };
    return rankingOf(request);
  });
}

test.each([
  ["with a file for errors", () => ["--errors", errors]],
  ["without one", () => []],
])("a restart that does the rest has the exit code of the whole run: %s", async (_, more) => {
  await write(["a", "bad", "b", "last"]);
  const state = { isFirst: true };
  replies(state);
  expect((await bulk(...more())).exitCode).toBe(3);
  state.isFirst = false;
  const second = await bulk(...more());
  expect(second.exitCode).toBe(5);
  expect(second.stdout).toMatch(/^Ranked 1, 3 already done \(1 of them without a result\), in /);
  // Nothing is left to do, and it is still that run.
  server.requests = [];
  const third = await bulk(...more(), "--json");
  expect([third.exitCode, JSON.parse(third.stdout)]).toEqual([
    5,
    expect.objectContaining({ requests: 4, before: 4, wrongBefore: 1, ranked: 0, wrong: 0 }),
  ]);
  expect(server.requests).toEqual([]);
});

test("what was wrong in an input that is another now is no part of the run", async () => {
  await write(["a", "bad"]);
  replies({ isFirst: false });
  expect((await bulk("--errors", errors)).exitCode).toBe(5);
  await write(["a", "b"]);
  expect(await bulk("--errors", errors)).toMatchObject({ exitCode: 0 });
  await write(["a", "bad"]);
  expect((await bulk("--errors", errors)).exitCode).toBe(5);
});

test("a run whose wrong request was mended ends well", async () => {
  await write(["a"], []);
  replies({ isFirst: false });
  expect((await bulk("--errors", errors)).exitCode).toBe(5);
  await write(["a"]);
  expect((await bulk("--errors", errors)).exitCode).toBe(0);
  expect(await rowsOf(errors)).toEqual([]);
});

test("an output that has rows of errors counts with a file for errors, too", async () => {
  await write(["a", "bad"]);
  replies({ isFirst: false });
  expect((await bulk()).exitCode).toBe(5);
  expect((await bulk("--errors", errors)).exitCode).toBe(5);
});

test("each shard speaks of its own part", async () => {
  await write(["a", "b", "c", "d", "bad"]);
  replies({ isFirst: false });
  const shard = async (index: number): Promise<(number | null)[]> => {
    const own = ["--shard", `${index}/2`, "--output", `${output}.${index}`];
    return [(await bulk(...own)).exitCode, (await bulk(...own)).exitCode];
  };
  expect([await shard(0), await shard(1)].sort()).toEqual([
    [0, 0],
    [5, 5],
  ]);
});
