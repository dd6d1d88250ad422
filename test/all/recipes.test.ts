// What the recipes and samples of the docs send, and what they print.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { parse } from "yaml";
import { blockOf } from "../../docs/build/blocks.js";
import { createTestService } from "../../src/testing/index.js";
import { canaryKey } from "../support/canary.js";
import { TestClock } from "../support/clock.js";
import { program } from "../support/commandLine.js";
import { contract } from "../support/contract.js";
import { savedBlock } from "../support/guideBlocks.js";
import { root, run, temporaryFolder } from "../support/project.js";
import { type ReceivedRequest, useRecordingServer } from "../support/recordingServer.js";
import { inTurn } from "../support/responses.js";
import { soon } from "../support/turns.js";

const server = useRecordingServer();
const clock = new TestClock();
const sent = ({ method, url }: ReceivedRequest) => `${method} ${url}`;
const read = (page: string, name: string) => blockOf(`recipes/${page}.md`, name).text;

const environment = (baseUrl: string) => ({
  TUNERANK_BASE_URL: baseUrl,
  TUNERANK_API_KEY: canaryKey,
  TUNERANK_ACCOUNT_ID: "acme",
});

afterEach(() => {
  clock.remove();
  vi.unstubAllEnvs();
});

/** Begins a recipe; resolves to what it printed. */
async function printed(name: string, baseUrl: string): Promise<string> {
  for (const [variable, value] of Object.entries(environment(baseUrl))) vi.stubEnv(variable, value);
  const lines: string[] = [];
  const log = vi.spyOn(console, "log").mockImplementation((...values) => void lines.push(values.join(" ")));
  try {
    await import(savedBlock(name));
  } finally {
    log.mockRestore();
  }
  return lines.map((line) => `${line}\n`).join("");
}

test("1,000 documents are ranked in one request, and 10 come back", async () => {
  const service = createTestService();
  const mockServer = await service.listen();
  const text = await printed("rankThousand.ts", mockServer.url).finally(() => mockServer.close());
  expect(text).toBe(blockOf("recipes/rank-1000.md", "rankThousand.ts").prints?.text);
  const bodies = service.requests.map(({ body }) => body as { documents: string[] });
  expect(bodies.map(({ documents }) => documents.length)).toEqual([1000]);
});

const job = "/v1/accounts/acme/reinforcementFineTuningJobs/answer-quality";

test("a resume whose response was lost is looked at, not repeated", async () => {
  server.reply(inTurn({ status: 502 }, { json: { state: "JOB_STATE_RUNNING" } }));
  const text = await printed("jobLost.ts", server.url);
  expect(server.requests.map(sent)).toEqual([`POST ${job}:resume`, `GET ${job}`]);
  expect(text).toBe("The response was lost. The job: JOB_STATE_RUNNING\n");
});

test("a job is read once a minute until its state says that it has ended", async () => {
  const states = [
    { state: "JOB_STATE_PENDING" },
    { state: "JOB_STATE_RUNNING", jobProgress: { percent: 40 } },
    { state: "JOB_STATE_COMPLETED", jobProgress: { percent: 100 } },
  ];
  server.reply(({ method }) => ({
    json: method === "POST" ? states[0] : states[server.requests.length - 1],
  }));
  clock.install();
  const watching = printed("watchJob.ts", server.url);
  await clock.passWhenWaiting(60_000);
  await server.received(2);
  await clock.passWhenWaiting(60_000);
  const text = await watching;
  expect(server.requests.map(sent)).toEqual([`POST ${job}:resume`, `GET ${job}`, `GET ${job}`]);
  expect(text).toBe("JOB_STATE_PENDING ? %\nJOB_STATE_RUNNING 40 %\nJOB_STATE_COMPLETED 100 %\n");
});

test("the pattern of the watch takes the states that end, and no other of the contract", async () => {
  const [, pattern = ""] = /const ended = \/(.+)\/;/.exec(read("did-it-run", "watchJob.ts")) ?? [];
  const states = contract.components.schemas.JobState?.enum ?? [];
  expect(states.length).toBeGreaterThan(15);
  expect(states.filter((state) => new RegExp(pattern).test(`${state}`))).toEqual([
    "JOB_STATE_COMPLETED",
    "JOB_STATE_FAILED",
    "JOB_STATE_CANCELLED",
    "JOB_STATE_EXPIRED",
    "JOB_STATE_EARLY_STOPPED",
    "JOB_STATE_DELETED",
    "JOB_STATE_ARCHIVED",
  ]);
});

// A folder where the package is installed, as far as a shell sees it.
const { folder, remove } = await temporaryFolder();
const bin = path.join(folder, "node_modules/.bin");
beforeAll(async () => {
  await mkdir(bin, { recursive: true });
  const start = `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`;
  await writeFile(path.join(bin, "tunerank"), start, { mode: 0o755 });
});
afterAll(remove);

describe("a command that scales at night", () => {
  beforeAll(async () => {
    for (const name of ["scale.sh", "check.sh"])
      await writeFile(path.join(folder, name), read("scale-to-zero", name), { mode: 0o755 });
  });

  const npm = { npm_config_offline: "true", npm_config_update_notifier: "false" };
  const scaled = () =>
    server.requests.map((request) => [
      sent(request),
      JSON.parse(`${request.body}`),
      request.headers.authorization,
    ]);
  const expected = (replicaCount: number) => [
    ["PATCH /v1/accounts/acme/deployments/support-search:scale", { replicaCount }, `Bearer ${canaryKey}`],
  ];

  const heartbeat = ({ url }: ReceivedRequest) => /alert|heartbeat/.test(url);
  const alerts = () => server.requests.filter(heartbeat).map(({ body }) => `${body}`);
  const later = { PAUSE_SECONDS: "0.1" };

  /** Runs a line of the recipe's crontab, as cron does. */
  async function byCron(time: string, env: Record<string, string> = {}) {
    const lines = read("scale-to-zero", "crontab.txt").trim().split("\n");
    const line = lines.find((each) => each.startsWith(`${time} `)) ?? "";
    const values: Record<string, string> = {
      ...environment(server.url),
      ALERT_URL: `${server.url}/alert`,
    };
    const settings = read("scale-to-zero", "tunerank.env").replace(
      /(\w+)='.*'/g,
      (_, name) => `${name}='${values[name]}'`,
    );
    await writeFile(path.join(folder, "tunerank.env"), settings);
    const command = line.slice(time.length + 1).replaceAll("/srv/scale", folder);
    return run("sh", ["-c", command], { cwd: root, env: { ...npm, ...env } });
  }

  test("in an outage that is longer than the command's own retries is started again until it is over", async () => {
    const down = { status: 503 };
    server.reply(inTurn(down, down, down, down, down, down, { json: {} }));
    expect((await byCron("0 20 * * 1-5", later)).exitCode).toBe(0);
    // Three requests of each start of the command.
    expect(scaled()).toEqual(Array(7).fill(expected(0)[0]));
    expect(alerts()).toEqual([]);
  });

  test("that is refused is not tried again: an alert says so, and so does the log", async () => {
    server.reply(({ url }) => (url === "/alert" ? {} : { status: 404, json: { code: "NOT_FOUND" } }));
    expect((await byCron("0 20 * * 1-5", later)).exitCode).toBe(4);
    expect(alerts()).toEqual(["support-search was not scaled to 0: exit code 4"]);
    const log = await readFile(path.join(folder, "log"), "utf8");
    expect(log).toMatch(/\b\d{4}\b.*\n(.*\n)*support-search was not scaled to 0: exit code 4\n$/);
    expect(server.requests).toHaveLength(2);
  });

  test("and is still trying ends when the morning's begins, whose number stays", async () => {
    server.reply({ status: 503 });
    const evening = byCron("0 20 * * 1-5", later);
    await server.received(4);
    server.reply({ json: {} });
    expect((await byCron("0 7 * * 1-5", later)).exitCode).toBe(0);
    expect((await evening).exitCode).toBe(0);
    expect(scaled().at(-1)).toEqual(expected(2)[0]);
  });

  test("is checked in the morning: the number has to be the last, and of the last hour", async () => {
    expect((await byCron("0 7 * * 1-5")).exitCode).toBe(0);
    expect(scaled()).toEqual(expected(2));
    expect((await byCron("30 7 * * 1-5")).exitCode).toBe(0);
    await utimes(path.join(folder, "scaled"), 0, 0);
    expect((await byCron("30 7 * * 1-5")).exitCode).toBe(1);
    await byCron("0 20 * * 1-5");
    expect((await byCron("30 7 * * 1-5")).exitCode).toBe(1);
    const said = "support-search has not been scaled to 2 this morning";
    expect(alerts()).toEqual([said, said]);
  });

  const workflow = parse(read("scale-to-zero", "scaleNightly.yml"));
  const { steps, env: ofJob } = workflow.jobs.scale;
  const step = (name: string) => steps.find((each: { name?: string }) => each.name === name);

  /** Runs a step as GitHub does, with the variables that it asks for. */
  async function byGitHub(name: string, REPLICAS: string) {
    const vars: Record<string, string> = {
      ...environment(server.url),
      ALERT_URL: `${server.url}/alert`,
      HEARTBEAT_URL: `${server.url}/heartbeat`,
    };
    const own = Object.entries<string>(step(name).env).map(([variable, value]) => {
      const [, asked = ""] = /^\$\{\{ (?:vars|secrets)\.(\w+) \}\}$/.exec(value) ?? [];
      return [variable, vars[asked] ?? ""];
    });
    const env = { ...npm, ...later, ...Object.fromEntries(own), REPLICAS };
    return run("bash", ["-e", "-c", step(name).run], { cwd: folder, env });
  }

  test.each([
    ["17 20 * * 1-5", 0],
    ["17 6 * * 1-5", 2],
  ])("by GitHub's schedule %s asks for %i replicas, as often as an outage needs", async (time, replicas) => {
    expect(workflow.on.schedule).toContainEqual({ cron: time });
    const [, evening, then, otherwise] =
      /schedule == '(.*)' && '(\d)' \|\| '(\d)'/.exec(ofJob.REPLICAS) ?? [];
    const REPLICAS = `${time === evening ? then : otherwise}`;
    server.reply(inTurn({ status: 503 }, { status: 503 }, { status: 503 }, { json: {} }));
    expect((await byGitHub("Scale", REPLICAS)).exitCode).toBe(0);
    expect(scaled()).toEqual(Array(4).fill(expected(replicas)[0]));
  });

  test("by GitHub that fails or takes too long raises the alarm, and only success reaches the monitor", async () => {
    expect(steps.map(({ name }: { name?: string }) => name)).toEqual([
      undefined,
      "Scale",
      "Alert",
      "Tell the monitor",
    ]);
    expect([step("Alert").if, step("Tell the monitor").if]).toEqual(["failure()", undefined]);
    // A job that is out of time is cancelled, which is no failure; a step that is, fails.
    expect(step("Scale")["timeout-minutes"]).toBeLessThan(workflow.jobs.scale["timeout-minutes"]);
    expect((await byGitHub("Alert", "0")).exitCode).toBe(0);
    expect((await byGitHub("Tell the monitor", "0")).exitCode).toBe(0);
    expect(server.requests.map((request) => [sent(request), `${request.body}`])).toEqual([
      ["POST /alert", "not scaled to 0"],
      ["GET /heartbeat", ""],
    ]);
    server.reply({ status: 500 });
    expect((await byGitHub("Alert", "0")).exitCode).not.toBe(0);
    expect((await byGitHub("Tell the monitor", "0")).exitCode).not.toBe(0);
  });

  test("by GitHub has its version pinned, and the key in one step alone", async () => {
    const { version } = JSON.parse(await readFile(path.join(root, "package.json"), "utf8"));
    expect(steps[0].run).toBe(`npm install --ignore-scripts tunerank@${version}`);
    expect(read("scale-to-zero", "scaleNightly.yml").split("secrets.")).toHaveLength(2);
    expect(Object.keys(step("Scale").env).sort()).toEqual(Object.keys(environment("")).sort());
  });
});

describe("the backend of a page", () => {
  let backend: ChildProcess;
  let url: string;

  beforeAll(async () => {
    const args = ["--conditions=tunerank-source", "--import", "tsx", savedBlock("backend.ts")];
    const env = { ...process.env, ...environment(server.url), PORT: "0", PAGE_ORIGIN: "https://page.test" };
    backend = spawn(process.execPath, args, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    for await (const line of createInterface(backend.stdout as Readable)) {
      said += line;
      const [, port] = /port: (\d+)/.exec(said) ?? [];
      if (port === undefined) continue;
      url = `http://127.0.0.1:${port}`;
      break;
    }
  });
  afterAll(async () => {
    backend.kill();
    await soon(once(backend, "exit"), "the end of the backend");
  });

  test("holds the key, ranks its own texts, and names the one origin", async () => {
    const data = [1, 0].map((index) => ({ index, relevance_score: index }));
    server.reply({ json: { data } });
    const response = await fetch(`${url}/?q=my%20password`);
    expect(await response.json()).toEqual({ best: "I forgot my password: choose Reset." });
    expect(response.headers.get("access-control-allow-origin")).toBe("https://page.test");
    expect(server.only.headers.authorization).toBe(`Bearer ${canaryKey}`);
    expect(JSON.parse(`${server.only.body}`)).toMatchObject({
      query: "my password",
      documents: { length: 2 },
    });
  });

  test("says no more than that it failed", async () => {
    server.reply({ status: 403, json: { code: "PERMISSION_DENIED", message: "Not with this key." } });
    const response = await fetch(`${url}/?q=my%20password`);
    expect([response.status, await response.json()]).toEqual([502, { error: "The search failed." }]);
    expect((await fetch(url)).status).toBe(400);
  });

  test("ends its call when the visitor leaves", async () => {
    const aborted = new Promise<void>((resolve) => {
      server.reply((_request, response) => void response.once("close", resolve));
    });
    const visitor = new AbortController();
    const visit = fetch(`${url}/?q=my%20password`, { signal: visitor.signal }).catch(() => "left");
    await server.received();
    visitor.abort();
    expect(await visit).toBe("left");
    await soon(aborted, "the end of the call");
  });
});

test("a worker ranks with the key of its bindings, and shows what failed", async () => {
  const { default: worker } = await import("../../checks/first-hour/cloudflare-worker/worker.js");
  const visit = () => worker.fetch(new Request("https://worker.test/?q=france"), environment(server.url));
  const said = vi.spyOn(console, "log").mockImplementation(() => {});
  const data = [1, 0].map((index) => ({ index, relevance_score: index }));
  server.reply({ json: { data } });
  const ranked = await visit();
  expect([ranked.status, await ranked.json()]).toEqual([200, ["Paris", "Rome"]]);
  expect(server.only.headers.authorization).toBe(`Bearer ${canaryKey}`);
  server.reply({ status: 404, json: { code: "NOT_FOUND", message: "No such model." } });
  const failed = await visit();
  said.mockRestore();
  expect([failed.status, await failed.json()]).toMatchObject([502, { code: "NOT_FOUND" }]);
});

test("every file that an assistant is told to read is in the package", async () => {
  const shipped = (await readFile(path.join(root, "checks/package/files.txt"), "utf8")).split("\n");
  const named = [...read("assistant", "assistant.sh").matchAll(/node_modules\/tunerank\/([\w./-]+\w)/g)].map(
    ([, file]) => file,
  );
  expect(named).toHaveLength(2);
  for (const file of named) expect(shipped).toContain(file);
});

// The reference's samples for curl and in Python; those in TypeScript are run by test/docs/guideBlocks.test.ts.
const train = await readFile(path.join(root, "examples/train.jsonl"));
const account = "/v1/accounts/acme";
const query = "I forgot my password";
const documents = ["Choose Reset on the sign-in page.", "Invoices are PDF files."];

const operations = [
  {
    name: "rerank",
    sends: "POST /inference/v1/rerank",
    body: { query, documents, top_n: 1 },
    response: { data: [{ index: 0, relevance_score: 0.9 }] },
    python: "0 0.9\n",
  },
  {
    name: "scale",
    sends: `PATCH ${account}/deployments/support-search:scale`,
    body: { replicaCount: 2 },
    response: {},
    python: "200\n",
  },
  {
    name: "resume",
    sends: `POST ${account}/reinforcementFineTuningJobs/answer-quality:resume`,
    body: {},
    response: { state: "JOB_STATE_RUNNING" },
    python: "JOB_STATE_RUNNING\n",
  },
  {
    name: "upload",
    sends: `POST ${account}/datasets/support-answers:upload`,
    body: undefined,
    response: { filename: "train.jsonl" },
    python: "train.jsonl\n",
  },
];

const interpreters = { sh: ["bash", "curl"], py: ["python3"] };
const missing = (command: string) => spawnSync(command, ["--version"]).error !== undefined;
describe("a sample of the reference", () => {
  for (const [extension, [interpreter = "", ...others]] of Object.entries(interpreters)) {
    test.skipIf([interpreter, ...others].some(missing)).each(operations)(
      `$name with ${interpreter} makes its request and reads the response`,
      async ({ name, sends, body, response, python }) => {
        server.reply({ json: response });
        const file = savedBlock(`${name}.${extension}`);
        const { exitCode, stdout } = await run(interpreter, [file], {
          cwd: path.dirname(file),
          env: environment(server.url),
        });
        expect({ exitCode, stdout }).toEqual({
          exitCode: 0,
          stdout: extension === "py" ? python : JSON.stringify(response),
        });
        const request = server.only;
        expect(sent(request)).toBe(sends);
        expect(request.headers.authorization).toBe(`Bearer ${canaryKey}`);
        if (body === undefined) {
          expect(request.files).toMatchObject([{ part: "file", filename: "train.jsonl", bytes: train }]);
        } else {
          expect(request.headers["content-type"]).toBe("application/json");
          expect(JSON.parse(`${request.body}`)).toEqual(body);
        }
      },
    );
  }
});

describe.skipIf(interpreters.sh.some(missing))("a snippet for the shell", () => {
  test("request.sh sends what the guide says", async () => {
    server.reply({ json: {} });
    const env = { ...environment(server.url), PATH: `${bin}:${process.env.PATH}` };
    expect(await run("bash", ["-e", savedBlock("request.sh")], { env })).toMatchObject({
      exitCode: 0,
    });
    expect(server.requests.map(sent)).toEqual([
      "GET /v1/accounts/acme/datasets/support-answers",
      "POST /v1/accounts/acme/notes/first%20draft:touch",
      "PATCH /v1/accounts/acme/deployments/support-search:scale",
    ]);
    expect(`${server.requests[1]?.body}`).toBe('{"by": "me"}');
    expect(`${server.requests[2]?.body}`).toBe('{"replicaCount": 2}');
  });

  test("curl.sh calls all four operations", async () => {
    server.reply({ json: {} });
    const env = environment(server.url);
    const file = savedBlock("curl.sh");
    const { exitCode, stdout } = await run("bash", ["-e", file], { cwd: path.dirname(file), env });
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "{}{}{}{}" });
    expect(server.requests.map(sent)).toEqual(operations.map(({ sends }) => sends));
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(
      Array(4).fill(`Bearer ${canaryKey}`),
    );
    expect(server.requests[3]?.files).toMatchObject([{ part: "file", bytes: train }]);
  });
});
