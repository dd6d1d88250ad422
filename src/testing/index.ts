/**
 * A test service that imitates the service in your tests.
 *
 * @module tunerank/testing
 */
import type { OperationId } from "../generated/contract.js";
import { checkApiKey, checkFlag, checkInteger } from "../options/arguments.js";
import { type OptionTable, ownProperties } from "../options/validate.js";
import { operationOf } from "./behaviours.js";
import { handle, type MockReply, type Parts } from "./handle.js";
import { listen } from "./listen.js";
import { Failures, type MockResponse, responseBytes, scriptedResponse } from "./mockResponse.js";
import { KeptRequests, MockState } from "./state.js";
import type { ListenOptions, TestFetch, TestResponse, TestService, TestServiceOptions } from "./types.js";

export type {
  ListenOptions,
  ScriptedFailure,
  ServedRequest,
  TestDataset,
  TestDeployment,
  TestFetch,
  TestFile,
  TestOperation,
  TestRequest,
  TestResponse,
  TestServer,
  TestService,
  TestServiceOptions,
  TestStoredFile,
} from "./types.js";

const names: OptionTable<TestServiceOptions> = {
  apiKey: 1,
  jobs: 1,
  deployments: 1,
  datasets: 1,
  strict: 1,
  keepRequests: 1,
};

const listenNames: OptionTable<ListenOptions> = { port: 1, host: 1, allowOrigins: 1, onRequest: 1 };

/**
 * Creates a test service, which imitates the service in your tests. It keeps its data in memory, and checks requests by
 * the contract's rules: method, path, bearer key, content type, required fields, types, limits. It is not the real
 * service: do not rely on the following behaviour, which the service's OpenAPI document does not define.
 *
 * - A document's score is the number of distinct words that it shares with the query, divided by the square root of
 *   the product of both numbers of distinct words: 0 to 1. Words are runs of letters and digits in lower case;
 *   `task` changes nothing. Documents with equal scores keep their order.
 * - Words count as tokens; the words of the query count once for each document.
 * - The response to a rerank without a model names the model `accounts/stand-in/models/shared-words`.
 * - Every job, deployment and dataset exists unless `options` list those that do; each account has its own.
 * - Only a job in JOB_STATE_PAUSED can be resumed, and is then in JOB_STATE_RUNNING; in every other state, the request
 * is
 *   rejected with FAILED_PRECONDITION.
 * - A deployment has one replica until it is scaled; scaling takes effect at once.
 * - Files have the ids `file-1`, `file-2` and so on. In the response to an upload, `object` is `file`, `purpose` is
 *   `fine-tune`, `created_at` is in seconds, and `bytes` is the size of the file.
 * - Any other operation responds with the contract's first example, and changes nothing.
 * - Errors have the shape `{ code, message }`. The status is 415 for a wrong content type, 413 for a file that is too
 *   large, 404 for an unknown path, 405 for a method that the path does not have, 400 for a form with two files.
 * - A 64-bit integer above 2^53 - 1 counts as 2^53 - 1.
 * - Responses have the header `x-request-id`: `req-1`, `req-2` and so on.
 *
 * It never responds with PERMISSION_DENIED, and has no rate limit, unless you script a failure.
 *
 * @param options Which resources exist, which key and fields are accepted, and how many requests are kept.
 * @throws StatusError `INVALID_ARGUMENT` when an option cannot be used.
 * @example
 * const service = createTestService();
 * const client = createClient({ baseUrl: "https://service.test", apiKey: "key", fetch: service.fetch });
 * service.fail("rerank", { status: 503, code: "UNAVAILABLE", times: 2, retryAfter: 1 });
 * await client.rerank({ query: "q", documents: ["d"] });
 * service.requests.length; // 3
 */
export function createTestService(options?: TestServiceOptions): TestService {
  const own = ownProperties(options, "options", names);
  const state = new MockState(own);
  const failures = new Failures();
  const apiKey = own.apiKey === undefined ? undefined : checkApiKey(own.apiKey, "apiKey");
  const { keepRequests = Number.POSITIVE_INFINITY } = own;
  const isLimited = keepRequests !== Number.POSITIVE_INFINITY;
  const requests = new KeptRequests(isLimited ? checkInteger(keepRequests, "keepRequests", 1) : keepRequests);
  const responses = new Map<OperationId, MockResponse>();
  const strict = checkFlag(own.strict, "strict");
  const parts: Parts = { apiKey, state, failures, responses, strict, requests };
  return {
    fetch: createTestFetch(parts),
    listen: async (where) => {
      const given = ownProperties(where, "options", listenNames);
      return listen(parts, given);
    },
    requests: requests.list,
    jobs: state.jobs,
    deployments: state.deployments,
    datasets: state.datasets,
    fail: (operation, failure) => failures.add(operationOf(operation), failure),
    answer(name, value) {
      const operation = operationOf(name);
      responses.set(operation, scriptedResponse(operation, value));
    },
    reset() {
      state.reset();
      failures.clear();
      responses.clear();
      requests.clear();
    },
  };
}

// Makes a `fetch` function that responds without a network. Its failures look like those of the platform's `fetch`.
function createTestFetch(parts: Parts): TestFetch {
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

function respond({ kind, response: { status, headers, body } }: MockReply): Response {
  if (kind === "reset") throw lost("fetch failed");
  const bytes = responseBytes(body) as Uint8Array<ArrayBuffer>;
  if (kind !== "truncate")
    return new Response(status === 204 || status === 304 ? null : bytes, { status, headers });
  const half = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(bytes.subarray(0, bytes.length / 2)),
    pull: (controller) => controller.error(lost("terminated")),
  });
  return new Response(half, { status, headers: { ...headers, "content-length": `${bytes.length}` } });
}

// The error that Node's own `fetch` throws when a connection is reset.
function lost(message: string): TypeError {
  const cause = Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
  return new TypeError(message, { cause });
}

function rejectWhenAborted(signal: AbortSignal): { rejected: Promise<never>; forget: () => void } {
  let onAbort = (): void => {};
  const rejected = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
  });
  // If the promise rejects while nothing waits for it, that must not count as an unhandled rejection.
  rejected.catch(() => {});
  signal.addEventListener("abort", onAbort);
  if (signal.aborted) onAbort();
  return { rejected, forget: () => signal.removeEventListener("abort", onAbort) };
}
