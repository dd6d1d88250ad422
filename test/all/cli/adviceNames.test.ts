import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { conversionOf } from "../../../src/cli/input/formats.js";
import { tunerank } from "../../support/commandLine.js";
import { textOfRows, wide } from "../../support/inputSamples.js";
import { temporaryFolder } from "../../support/project.js";
import { useRecordingServer } from "../../support/recordingServer.js";

const server = useRecordingServer();
let folder: string;
let remove: () => Promise<void>;

beforeEach(async () => {
  ({ folder, remove } = await temporaryFolder());
});
afterEach(() => {
  vi.unstubAllEnvs();
  return remove();
});

describe("a command that a message advises names the file", () => {
  test.each(['it\'s in $HOME `x` \\ "y".txt', "plain.txt", "two words"])("%s", async (name) => {
    const file = path.join(folder, name);
    await writeFile(file, wide(textOfRows));
    const outputs = [
      await tunerank(["rerank", "--query", "q", file], { baseUrl: server.url }),
      await tunerank(["rerank", "--bulk", file, "--output", `${file}.out`], { baseUrl: server.url }),
      await tunerank(["check", file]),
    ];
    for (const { stdout, stderr } of outputs) {
      const [, line = "", made = ""] = /Convert it: `(.* > (new\.\w+))`\.$/m.exec(stdout + stderr) ?? [];
      execFileSync("sh", ["-c", line], { cwd: folder });
      expect(readFileSync(path.join(folder, made), "utf8")).toBe(textOfRows);
    }
  });

  test("that begins with a dash, and not to itself", () => {
    expect(conversionOf("utf16", "lines", "-x")).toBe("iconv -f UTF-16 -t UTF-8 ./-x > new.txt");
    expect(conversionOf("zstd", "lines", "a/new.txt")).toBe("zstd -dc a/new.txt > other-new.txt");
  });

  test("in SQL, with its quotes", () => {
    const line = conversionOf("csv", "JSON lines", 'it\'s "$x".csv');
    const [, sql = ""] = /^duckdb -c (.*)$/.exec(line) ?? [];
    expect(`${execFileSync("sh", ["-c", `printf %s ${sql}`])}`).toBe(
      "COPY (FROM read_csv('it''s \"$x\".csv')) TO 'new.jsonl' (FORMAT json)",
    );
  });

  test.each(["-", undefined, "a-key.csv", "two\nlines.csv"])("and no pipe, key or line end: %s", (file) => {
    vi.stubEnv("TUNERANK_API_KEY", "a-key");
    expect(conversionOf("zstd", "lines", file)).toBe("zstd -dc FILE > new.txt");
  });
});

describe("a body file that is not JSON", () => {
  const request = (...args: string[]) => tunerank(["request", ...args], { baseUrl: server.url });
  const table = (): string => {
    writeFileSync(path.join(folder, "in.csv"), "a,b\n1,2\n");
    return path.join(folder, "in.csv");
  };

  test("is converted to one JSON value for an operation", async () => {
    const { stderr } = await request("rerankDocuments", "--body-file", table());
    expect(stderr).toContain("TO 'new.json' (FORMAT json, ARRAY true)\"`.\n");
    expect(stderr).not.toContain("--content-type");
    expect(conversionOf("sqlite", "JSON", "a")).toBe("sqlite3 -json a 'SELECT * FROM TABLE' > new.json");
    expect(conversionOf("arrowFile", "JSON", "a")).toContain("print(json.dumps(i.open_file(sys.argv[1])");
  });

  test("may be sent as it is to a PATH", async () => {
    const advice = "To send it as it is, name its kind with --content-type.\n";
    expect((await request("POST", "/x", "--body-file", table())).stderr).toContain(`\`. ${advice}`);
    await writeFile(path.join(folder, "in.txt"), "text");
    const { exitCode, stderr } = await request("POST", "/x", "--body-file", path.join(folder, "in.txt"));
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(`). ${advice}`)]);
    expect(server.connections).toBe(0);
  });
});
