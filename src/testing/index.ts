/**
 * A test service that imitates the service in your tests.
 *
 * @module tunerank/testing
 */
import { checkApiKey, checkCallback, checkFlag, checkInteger } from "../options/arguments.js";
import { type OptionTable, ownProperties } from "../options/validate.js";
import { operationOf } from "./behaviours.js";
import { handle } from "./handle.js";
import { checkOrigins, listen } from "./listen.js";
import { checkTimes, responseBytes, scriptedResponse, scriptOf } from "./mockResponse.js";
import { MockState } from "./state.js";
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

const optionTable: OptionTable<TestServiceOptions> = {
  apiKey: checkApiKey,
  jobs: 1,
  deployments: 1,
  datasets: 1,
  strict: checkFlag,
  keepRequests: checkTimes,
};

const listenTable: OptionTable<ListenOptions> = {
  port: (port, what) => checkInteger(port, what),
  host: 1,
  allowOrigins: checkOrigins,
  onRequest: checkCallback,
};

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
 *   is rejected with FAILED_PRECONDITION. Scaling takes effect at once.
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
  const state = new MockState(ownProperties(options, "options", optionTable));
  const { scripts, responses, requests, jobs, deployments, datasets } = state;
  return {
    fetch: (input, init) => fetchFrom(state, input, init),
    listen: async (where) => listen(state, ownProperties(where, "options", listenTable)),
    requests,
    jobs,
    deployments,
    datasets,
    fail(name, failure) {
      const operation = operationOf(name);
      scripts.set(operation, [...(scripts.get(operation) ?? []), scriptOf(failure)]);
    },
    answer(name, value) {
      const operation = operationOf(name);
      responses.set(operation, scriptedResponse(operation, value));
    },
    reset: () => state.reset(),
  };
}

// Responds without a network; its failures look like those of the platform's `fetch`.
async function fetchFrom(state: MockState, ...[input, init]: Parameters<TestFetch>): Promise<TestResponse> {
  if (typeof Request !== "function") {
    throw new TypeError(
      'This runtime has no Request, which service.fetch needs: under Jest\'s jsdom set testEnvironment: "node".',
    );
  }
  const request = new Request(input as Request, init);
  const { method, signal } = request;
  const gone = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason));
    if (signal.aborted) reject(signal.reason);
  });
  const respond = async (): Promise<Response> => {
    const body = new Uint8Array(await request.arrayBuffer());
    signal.throwIfAborted();
    const { pathname: path, search } = new URL(request.url);
    const headers = Object.fromEntries(request.headers);
    const incoming = { method, path, query: search.slice(1), headers, body, signal };
    const { kind, response } = await handle(state, incoming);
    if (kind === "stall") return gone;
    if (kind === "reset") throw lost("fetch failed");
    const { status, headers: said } = response;
    const bytes = responseBytes(response.body) as Uint8Array<ArrayBuffer>;
    if (kind !== "truncate")
      return new Response(status === 204 || status === 304 ? null : bytes, { status, headers: said });
    const half = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(bytes.subarray(0, bytes.length / 2)),
      pull: (controller) => controller.error(lost("terminated")),
    });
    return new Response(half, { status, headers: { ...said, "content-length": `${bytes.length}` } });
  };
  return (await Promise.race([respond(), gone])) as TestResponse;
}

// The error that Node's own `fetch` throws when a connection is reset.
function lost(message: string): TypeError {
  const cause = Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
  return new TypeError(message, { cause });
}
