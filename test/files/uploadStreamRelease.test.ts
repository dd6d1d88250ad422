import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import type { FetchLike, StatusCode, UploadFile } from "../../src/index.js";
import { goodJson } from "../support/answers.js";
import { connect, failureOf, transports } from "../support/clients.js";
import { useTestClock } from "../support/clock.js";
import { useCountingServer } from "../support/countingServer.js";
import { until } from "../support/turns.js";

const server = useCountingServer();
const clock = useTestClock();
const chunk = new Uint8Array(256 * 1024);

interface Source {
  readonly file: UploadFile;
  /** Resolves once the stream was let go of. */
  readonly released: Promise<unknown>;
  /** Whether more was asked for than it gives. */
  readonly stalls: () => boolean;
}

/** Streams that give `chunks` chunks and then end, or nothing more for ever. */
type MakeSource = (chunks: number, then: "ends" | "stalls") => Source;

const sources: readonly (readonly [what: string, make: MakeSource])[] = [
  [
    "a Readable",
    (chunks, then) => {
      let left = chunks;
      const file = new Readable({
        read() {
          if (left-- > 0) this.push(chunk);
          else if (then === "ends") this.push(null);
        },
      });
      return {
        file,
        released: new Promise((resolve) => file.on("close", resolve)),
        stalls: () => left < 0,
      };
    },
  ],
  [
    "a web ReadableStream",
    (chunks, then) => {
      let left = chunks;
      let release: () => void = () => {};
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      const file = new ReadableStream<Uint8Array>({
        pull(controller) {
          if (left-- > 0) controller.enqueue(chunk);
          else if (then === "stalls") return new Promise<void>(() => {});
          else {
            controller.close();
            release();
          }
          return undefined;
        },
        cancel: () => release(),
      });
      return { file, released, stalls: () => left < 0 };
    },
  ],
];

const endless = Number.POSITIVE_INFINITY;

describe.each(transports)("over $name", ({ options, name }) => {
  describe.each(sources)("an upload lets go of %s", (_what, make) => {
    test("that was sent", async () => {
      const { file, released } = make(3, "ends");
      await connect(server.url, options).datasets.upload("reviews", file, { name: "x" });
      await released;
    });

    test.each<[how: string, code: StatusCode]>([
      ["was aborted", "CANCELLED"],
      ["met its deadline", "DEADLINE_EXCEEDED"],
    ])("that gives no more when the call %s", async (_how, code) => {
      server.listen((request) => void request.on("error", () => {}).resume());
      const { file, released, stalls } = make(3, "stalls");
      const controller = new AbortController();
      const call =
        code === "CANCELLED" ? { signal: controller.signal, timeoutMs: 60_000 } : { timeoutMs: 100 };
      // Through fetch a stream is read whole before anything is sent.
      const sends = name === "node:http";
      const running = failureOf(() =>
        connect(server.url, options).datasets.upload("reviews", file, { name: "x", ...call }),
      );
      await until(() => stalls() && server.used.length === (sends ? 1 : 0));
      if (code === "CANCELLED") controller.abort();
      else clock.pass(100);
      expect(await running).toMatchObject({ code, executed: sends ? "unknown" : "no" });
      expect(server.connections).toBe(sends ? 1 : 0);
      await released;
    });

    // Through fetch a stream is read whole before anything is sent: no server can end it half-way.
    if (name === "node:http") {
      test("of which more would come, when the server has refused it", async () => {
        server.listen((request, response) => {
          request.on("error", () => {}).resume();
          response.writeHead(413).end();
        });
        const { file, released } = make(endless, "ends");
        const upload = connect(server.url, options).datasets.upload("reviews", file, { name: "x" });
        expect(await failureOf(() => upload)).toMatchObject({ code: "INVALID_ARGUMENT", httpStatus: 413 });
        await released;
      });

      test("of which more would come, when the connection is lost", async () => {
        server.listen((request) => {
          request.on("error", () => {}).once("data", () => request.socket.resetAndDestroy());
        });
        const { file, released } = make(endless, "ends");
        const upload = connect(server.url, options).datasets.upload("reviews", file, { name: "x" });
        expect(await failureOf(() => upload)).toMatchObject({ code: "UNAVAILABLE", executed: "unknown" });
        await released;
      });
    }

    test("of which there is too much", async () => {
      server.listen((request) => void request.on("error", () => {}).resume());
      const { file, released } = make(endless, "ends");
      const upload = connect(server.url, options).datasets.upload("reviews", file, { name: "x", size: 9 });
      expect(await failureOf(() => upload)).toMatchObject({ code: "FAILED_PRECONDITION" });
      await released;
    });
  });
});

test("a stream that ends after its call did is not sent, even by a fetch that heeds no signal", async () => {
  let end: () => void = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  let sent = 0;
  const fetch: FetchLike = async () => {
    sent += 1;
    return Response.json(goodJson);
  };
  const controller = new AbortController();
  async function* late() {
    yield chunk;
    controller.abort();
    await ended;
  }
  const client = connect(server.url, { fetch });
  const upload = { name: "x", signal: controller.signal };
  expect((await failureOf(() => client.datasets.upload("reviews", late(), upload))).code).toBe("CANCELLED");
  end();
  // Another upload begins later and is sent: whatever the first had to do is done.
  await client.datasets.upload("reviews", Readable.from([chunk]), { name: "x" });
  expect(sent).toBe(1);
});
