import path from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { canaryKey } from "../support/canary.js";
import { root, run, temporaryFolder } from "../support/project.js";
import { type ReceivedRequest, type Reply, sha256, useRecordingServer } from "../support/recordingServer.js";
import { type RefusingPort, refusingPort } from "../support/refusingPort.js";
import { goodJson } from "../support/responses.js";
import { runScript } from "../support/script.js";
import { useTemporaryFile } from "../support/temporaryFile.js";

const server = useRecordingServer();

describe("a polluted Object.prototype", () => {
  const clientOptions =
    "baseUrl apiKey accountId rerankModel connectTimeoutMs maxConnections agent userAgent fetch allowInsecureHttp " +
    "dangerouslyAllowBrowser timeoutMs attemptTimeoutMs maxRetries repeatable onAttempt headers signal " +
    "TUNERANK_ACCOUNT_ID";
  const callOptions = "name size contentType onProgress verifyBytes maxResponseBytes";
  const ofRules =
    "minimum maximum minItems maxItems required items properties pattern additionalProperties type";
  const ofFiles = "getReader on errored readableDidRead destroyed locked streamed check replayable";
  const fields = "query model documents top_n task return_documents replicaCount account_id job_id";
  const responseFields =
    "data index relevance_score document usage prompt_tokens total_tokens bytes detail error";
  const errorFields =
    "code executed codeSource inferred httpStatus operation requestId retryAfterMs hint cause attempts message reason " +
    "phase event events requested waitMs notRetried executedBecause hostname port errors rerankDocuments scaleDeployment";
  const headerNames =
    "authorization host accept user-agent content-type content-length x-polluted x-request-id request-id retry-after " +
    "retry-after-ms set-cookie connection";
  const ofOpenapiFetch =
    "Request querySerializer bodySerializer pathSerializer requestInitExt middleware params parseAs path header cookie";
  const ofFetch =
    "method redirect credentials mode cache referrer referrerPolicy integrity keepalive duplex dispatcher window priority";
  const ofNode =
    "protocol socketPath auth setHost localAddress localPort family lookup createConnection defaultPort " +
    "_defaultAgent insecureHTTPParser maxHeaderSize uniqueHeaders joinDuplicateHeaders timeout";
  const ofDescriptors = "get set value writable enumerable configurable";
  // With a function named `then` a call never ends, nor closes its file: that is tried last.
  const ofTheLanguage = "toJSON toString valueOf length href blob stream status body aborted then";

  // The names of numbers are tried with one, too.
  const ofNumbers = `${clientOptions} ${callOptions} ${ofRules} ${responseFields} retryAfterMs httpStatus length`;

  // Node itself reads these from objects that it makes: a call then fails, and so does every other use of Node.
  const readByNode: Readonly<Record<string, readonly string[]>> = {
    "node:http": ["signal", "timeout"],
    fetch: (
      "signal timeout query body aborted mode referrer dispatcher window status get set error " +
      "keepalive required maxHeaderSize socketPath localAddress localPort"
    ).split(" "),
  };

  const replies: Readonly<Record<string, Reply>> = {
    object: { json: { ...goodJson, ok: true } },
    "not found": {
      status: 404,
      headers: { "x-request-id": "r-1", "retry-after": "1" },
      json: { code: "NOT_FOUND" },
    },
    "refused key": { status: 401, json: { message: "no" } },
    overloaded: { status: 503, text: "" },
    "web page": { text: "<html><title>Sign in</title></html>" },
    ranking: {
      json: {
        data: [
          { index: 1, relevance_score: 2 },
          { index: 0, relevance_score: 1 },
        ],
      },
    },
    "bad ranking": { json: { data: [{}] } },
  };

  let program: string;
  let refusing: RefusingPort;
  let remove: () => Promise<void>;
  beforeAll(async () => {
    const temporary = await temporaryFolder();
    ({ remove } = temporary);
    program = path.join(temporary.folder, "pollutedCalls.mjs");
    // Bundled as it is shipped: tsx adds calls of its own, which a polluted `get` breaks.
    await build({
      absWorkingDir: root,
      entryPoints: ["test/support/pollutedCalls.ts"],
      outfile: program,
      bundle: true,
      format: "esm",
      platform: "node",
      target: "es2022",
      conditions: ["tunerank-source"],
    });
    refusing = await refusingPort();
  });
  afterAll(() => Promise.all([remove(), refusing.close()]));

  type Outcome = { readonly error?: { readonly name?: string; readonly code?: string } } | null;

  interface Seen {
    readonly requests: Readonly<Record<string, readonly string[]>>;
    readonly outcomes: Readonly<Record<string, readonly Outcome[]>>;
  }

  async function callWith(transport: string, names: readonly string[]): Promise<Seen> {
    server.reply(({ headers }, response) => {
      const reply = replies[String(headers["x-response"])];
      if (reply === undefined) response.destroy();
      return reply;
    });
    const { stdout, stderr } = await run(process.execPath, [program], {
      env: {
        TUNERANK_API_KEY: canaryKey,
        URL: server.url,
        CLOSED_URL: refusing.url,
        TRANSPORT: transport,
        NAMES: names.join(" "),
        NUMBERS: ofNumbers,
      },
    });
    expect(stderr).toBe("");
    const requests: Record<string, string[]> = {};
    for (const request of server.requests) {
      const tag = String(request.headers["x-tag"]);
      requests[tag] = [...(requests[tag] ?? []), written(request)];
    }
    return { requests, outcomes: JSON.parse(stdout) };
  }

  /** All of a request but the tag and the boundary, which is another each time. */
  function written({ method, url, headers, body }: ReceivedRequest): string {
    const { "x-tag": _, ...others } = headers;
    const boundary = /boundary=(\S+)/.exec(headers["content-type"] ?? "")?.[1] ?? "";
    return JSON.stringify([method, url, others, body.toString()]).replaceAll(boundary || "\0", "boundary");
  }

  const all = [
    clientOptions,
    callOptions,
    ofFiles,
    ofRules,
    fields,
    responseFields,
    errorFields,
    headerNames,
    ofOpenapiFetch,
    ofFetch,
  ]
    .concat(ofNode, ofDescriptors, ofTheLanguage)
    .flatMap((names) => names.split(" "));

  function typesOf(name: string): readonly string[] {
    return ["string", "object", "function", ...(ofNumbers.split(" ").includes(name) ? ["number"] : [])];
  }

  describe.each(["node:http", "fetch"])("over %s, on Object.prototype", (transport) => {
    const names = [...new Set(all)].filter((name) => !readByNode[transport]?.includes(name));
    let seen: Seen;
    beforeAll(async () => {
      seen = await callWith(transport, names);
    }, 600_000);

    test("nothing gives the requests and outcomes to compare with", () => {
      expect(seen.requests.clean).toHaveLength(16);
      expect(seen.requests.clean?.join()).not.toContain("polluted");
      const codes = seen.outcomes.clean?.map((outcome) => outcome?.error?.code).filter(Boolean);
      expect(codes?.join(" ")).toBe(
        "NOT_FOUND UNAUTHENTICATED UNAVAILABLE INTERNAL UNAVAILABLE UNAVAILABLE INVALID_ARGUMENT CANCELLED INTERNAL " +
          "INVALID_ARGUMENT",
      );
    });

    describe.each(names)("%s", (name) => {
      test.each(typesOf(name))("as a %s changes nothing", (type) => {
        const tag = `${name}:${type}`;
        if (tag === "then:function") {
          // Every object is then a promise that never settles: some calls do not come to be sent.
          expect(seen.requests.clean).toEqual(expect.arrayContaining([...(seen.requests[tag] ?? [])]));
          return;
        }
        expect(seen.requests[tag]).toEqual(seen.requests.clean);
        expect(seen.outcomes[tag]).toEqual(seen.outcomes.clean);
      });
    });
  });

  describe("over fetch, on Object.prototype, where Node's fetch cannot make a request,", () => {
    const names = ["get", "set"];
    let seen: Seen;
    beforeAll(async () => {
      seen = await callWith("fetch", names);
    });

    describe.each(names)("%s", (name) => {
      test.each(typesOf(name))(
        "as a %s ends every call in a StatusError, never in a bare TypeError",
        (type) => {
          const errors = seen.outcomes[`${name}:${type}`]?.flatMap((outcome) => outcome?.error ?? []);
          expect(errors?.length).toBeGreaterThan(10);
          for (const error of errors ?? []) expect(error).toMatchObject({ name: "StatusError" });
        },
      );
    });
  });
});

describe("an upload in a polluted program", () => {
  const content = Buffer.alloc(1_200_000, "x");
  const file = useTemporaryFile(content);

  // What streams, their sources and the client's own objects may be asked for.
  const names =
    "blob cancel cause check chunks closed code destroyed errored failed hint locked onDisk " +
    "position pull readableDidRead readableEnded replayable size start type";

  const script = `
  import { createReadStream } from "node:fs";
  import { createClient } from "./src/index.ts";
  const own = process.env.TRANSPORT === "fetch" ? { fetch } : {};
  const client = createClient({ baseUrl: process.env.URL, accountId: "acme", maxRetries: 0, ...own });
  const { FILE } = process.env;
  const sources = [() => FILE, () => createReadStream(FILE), () => new Blob([new Uint8Array(9)]).stream()];
  // Whatever is loaded late is loaded now.
  await client.datasets.upload("clean", FILE);
  for (const name of process.env.NAMES.split(" ")) {
    for (const value of ["polluted", { polluted: true }, () => "polluted", 1]) {
      const files = sources.map((make) => make());
      Object.prototype[name] = value;
      try {
        for (const file of files) await client.datasets.upload(name, file, { name: "train.jsonl" });
      } catch (error) {
        delete Object.prototype[name];
        console.log(name, typeof value, error.message);
      }
      delete Object.prototype[name];
    }
  }
`;

  describe.each(["node:http", "fetch"])("over %s", (transport) => {
    test("nothing on Object.prototype changes how paths and streams are uploaded", async () => {
      const { stdout, stderr } = await runScript(script, {
        URL: server.url,
        FILE: file,
        TRANSPORT: transport,
        NAMES: names,
      });
      expect({ stdout, stderr }).toEqual({ stdout: "", stderr: "" });
      const whole = sha256(content);
      const [clean, ...others] = server.requests.map(({ files }) => files[0]?.sha256);
      expect(clean).toBe(whole);
      const each = [whole, whole, sha256(new Uint8Array(9))];
      expect(others).toEqual(
        Array(names.split(" ").length * 4)
          .fill(each)
          .flat(),
      );
    });
  });
});
