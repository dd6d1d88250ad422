import { handle, type Parts, type StandInReply } from "./handle.js";
import { answerBytes } from "./standInAnswer.js";
import type { TestFetch, TestResponse } from "./types.js";

/** The service as a `fetch` function: no network, but failures come as the platform's would. */
export function createTestFetch(parts: Parts): TestFetch {
  return async (input, init) => {
    if (typeof Request !== "function") {
      throw new TypeError(
        'This runtime has no Request, which service.fetch needs: under Jest\'s jsdom set testEnvironment: "node".',
      );
    }
    const request = new Request(input as Request, init);
    const { method, signal } = request;
    const gone = rejectWhenAborted(signal);
    try {
      const body = new Uint8Array(await Promise.race([request.arrayBuffer(), gone.rejected]));
      const { pathname: path, search } = new URL(request.url);
      const query = search.slice(1);
      const incoming = { method, path, query, headers: Object.fromEntries(request.headers), body, signal };
      const reply = await Promise.race([handle(parts, incoming), gone.rejected]);
      if (reply.kind === "stall") return await gone.rejected;
      return respond(reply) as TestResponse;
    } finally {
      gone.forget();
    }
  };
}

function respond({ kind, answer: { status, headers, body } }: StandInReply): Response {
  if (kind === "reset") throw lost("fetch failed");
  const bytes = answerBytes(body) as Uint8Array<ArrayBuffer>;
  if (kind !== "truncate")
    return new Response(status === 204 || status === 304 ? null : bytes, { status, headers });
  const half = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(bytes.subarray(0, bytes.length / 2)),
    pull: (controller) => controller.error(lost("terminated")),
  });
  return new Response(half, { status, headers: { ...headers, "content-length": `${bytes.length}` } });
}

// As Node's own fetch fails when a connection is reset.
function lost(message: string): TypeError {
  const cause = Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
  return new TypeError(message, { cause });
}

function rejectWhenAborted(signal: AbortSignal): { rejected: Promise<never>; forget: () => void } {
  let onAbort = (): void => {};
  const rejected = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
  });
  // Nobody may be waiting for it any more.
  rejected.catch(() => {});
  signal.addEventListener("abort", onAbort);
  if (signal.aborted) onAbort();
  return { rejected, forget: () => signal.removeEventListener("abort", onAbort) };
}
