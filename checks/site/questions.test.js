// Questions of people who have a problem: the search finds the section that answers each, with code, however it is asked.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe, test } from "node:test";
import { folder, searcher } from "./site.js";

const results = await searcher();
const threads = JSON.parse(await readFile(new URL("asked.json", import.meta.url), "utf8"));

// The page, and three ways to ask: the first finds it first, the others among the first three.
const questions = [
  ["recipes/did-it-run", "upload timed out", "is my file stored", "did the data arrive"],
  ["codes/RESOURCE_EXHAUSTED", "too many requests all day", "slow down", "send less often"],
  [
    "guide/quickstart",
    "rotate the key without a restart",
    "renew credentials while running",
    "replace an expired credential",
  ],
  [
    "guide/runtimes",
    "a company proxy with its own CA",
    "firewall that inspects traffic",
    "trust the company root",
  ],
  [
    "guide/rerank",
    "100,000 documents for one query",
    "rank a huge collection",
    "how many texts fit in a single request",
  ],
  [
    "recipes/several-machines",
    "two million queries on three machines",
    "split a file across servers",
    "divide the work between hosts",
  ],
  ["guide/testing", "test my code for a 503", "simulate an outage", "pretend the service is broken"],
  ["guide/errors", "what unknown means", "may it have happened", "not sure whether it ran"],
  [
    "guide/request",
    "an operation that the client does not have",
    "undocumented route",
    "call a missing method",
  ],
  ["guide/languages", "Java client", "jar with Maven", "use it on the JVM"],
  ["recipes/go", "Go client and its retries", "wrap the transport", "oapi-codegen module"],
  ["guide/rerank", "token usage and cost", "how much am I charged", "count what we spend"],
  ["guide/retries", "cancel request", "the user left the page", "visitor closes the tab"],
  ["recipes/nextjs", "a Next route", "endpoint below the app folder", "handler in the app folder"],
  ["recipes/scale-to-zero", "the service is down at midnight", "cron failed", "nightly job did not run"],
  ["guide/retries", "idempotency key", "send the same thing twice safely", "avoid duplicates"],
  ["guide/versioning", "Node versions", "which runtime release is supported", "end of life"],
  [
    "guide/contract-changelog",
    "what changed in the contract",
    "diff two revisions",
    "compare it with the older one",
  ],
  ["guide/certify", "certify a client", "prove that my implementation behaves", "does my own wrapper comply"],
  ["guide/contribute", "contribute a fix or report a fault", "found a bug", "send a patch"],
];

// Fifty questions as readers of public issue threads and of this site asked them, and the headings that answer each; a
// page without a heading answers in any part.
const asked = [
  ["openai-node#322", "read rate limit headers", "guide/observing#response-headers-and-request-ids"],
  [
    "openai-node#1477",
    "x-ratelimit-reset of a 429 error",
    "guide/observing#response-headers-and-request-ids codes/RESOURCE_EXHAUSTED",
  ],
  ["openai-node#445", "response headers", "guide/observing#response-headers-and-request-ids"],
  ["openai-node#1477", "request id of a failed call", "guide/observing#response-headers-and-request-ids"],
  ["stripe-node#857", "headers of all requests", "guide/configure#headers-for-every-call"],
  ["stripe-node#556", "telemetry user agent", "guide/configure#headers-for-every-call"],
  ["stripe-node#246", "header content contains invalid characters", "guide/configure#headers-for-every-call"],
  ["stripe-node#1102", "account per request", "guide/configure#several-accounts"],
  ["openai-node#278", "custom base url of a reverse proxy", "guide/configure#base-url-with-a-path-prefix"],
  ["openai-node#1669", "baseURL path prefix", "guide/configure#base-url-with-a-path-prefix"],
  ["openai-node#116", "base url http instead of https", "guide/questions#why-is-my-base-url-invalid"],
  ["undici#842", "client cert", "guide/runtimes#custom-ca-and-client-certificates"],
  ["undici#4034", "mTLS", "guide/runtimes#custom-ca-and-client-certificates"],
  ["undici#890", "pfx", "guide/runtimes#custom-ca-and-client-certificates"],
  [
    "undici#2192",
    "ProxyAgent requestTls",
    "guide/runtimes#client-certificate-and-proxy guide/runtimes#custom-ca-and-client-certificates",
  ],
  ["openai-node#654", "self-signed rejectUnauthorized", "guide/runtimes#custom-ca-and-client-certificates"],
  ["openai-node#324", "httpAgent https-proxy-agent", "guide/runtimes"],
  ["undici#583", "proxy with user and password", "guide/runtimes"],
  ["stripe-node#2808", "disable retries", "guide/retries#turn-retries-off"],
  ["stripe-node#2816", "maxNetworkRetries 0", "guide/retries#turn-retries-off"],
  ["stripe-node#2808", "EPIPE", "guide/questions#what-do-econnreset-epipe-and-socket-hang-up-mean"],
  [
    "undici#2400",
    "fetch failed other side closed",
    "guide/questions#what-do-econnreset-epipe-and-socket-hang-up-mean",
  ],
  ["undici#3300", "socket hang up", "guide/questions#what-do-econnreset-epipe-and-socket-hang-up-mean"],
  ["undici#5450", "keep-alive timeout of an idle socket", "guide/runtimes#connections-and-keep-alive"],
  ["undici#1415", "connection was closed", "guide/runtimes#connections-and-keep-alive"],
  [
    "stripe-node#832",
    "does the timeout include retries",
    "guide/retries#deadlines guide/questions#why-deadline-exceeded-before-my-timeout",
  ],
  [
    "stripe-node#1058",
    "timeout reached but not retried",
    "guide/errors#why-was-it-not-retried guide/questions#why-was-my-upload-not-retried guide/questions#why-deadline-exceeded-before-my-timeout",
  ],
  ["undici#1987", "max timeout per request", "guide/retries#deadlines"],
  [
    "stripe-node#558",
    "idempotent retries",
    "guide/retries#mark-a-call-as-idempotent guide/retries#idempotency-keys",
  ],
  ["stripe-node#559", "idempotency key", "guide/retries#idempotency-keys"],
  ["openai-node#418", "upload a ReadableStream", "guide/upload#streams-can-be-sent-only-once guide/upload"],
  ["OpenAI-DotNet#217", "upload from S3", "guide/questions#how-do-i-upload-a-file-from-s3"],
  ["undici#1604", "large upload timed out", "guide/questions#why-did-my-upload-time-out"],
  ["this site", "csv", "guide/questions#how-do-i-prepare-a-data-file-from-csv"],
  ["undici#1251", "useFakeTimers", "guide/testing#fake-timers"],
  ["undici#4107", "test a timeout with a mock", "guide/testing#scripted-failures guide/testing#fake-timers"],
  [
    "openai-node#666",
    "fetch is not defined in jest",
    "guide/runtimes#es-modules-and-commonjs recipes/jest-vitest",
  ],
  [
    "stripe-node#1684",
    "mocked client in tests",
    "guide/testing recipes/jest-vitest guide/testing#test-service",
  ],
  [
    "cohere-typescript#116",
    "documents as objects with a text key",
    "guide/rerank guide/rerank#rank-many-items-in-batches",
  ],
  ["this site", "maximum document length", "guide/questions#how-large-may-a-document-be"],
  ["this site", "throttle requests per second", "guide/configure#throttle-requests"],
  ["stripe-node#566", "rate limit over several processes", "guide/configure#throttle-requests"],
  ["stripe-node#33", "switch over error codes", "guide/errors#handle-each-code-with-a-switch guide/errors"],
  ["stripe-node#159", "error class instanceof", "guide/errors#handle-each-code-with-a-switch guide/errors"],
  ["openai-agents-js#414", "electron", "guide/questions#does-it-work-in-electron"],
  ["JakeChampion/fetch#700", "beforeunload", "recipes/browser#when-the-page-closes"],
  ["umami#3354", "fetch keepalive when the page closes", "recipes/browser#when-the-page-closes"],
  ["undici#902", "http2", "guide/dispatchers#http-2 guide/dispatchers"],
  ["stripe-node#366", "hook for every request", "guide/observing#onattempt-a-function-for-each-attempt"],
  ["this site", "ping", "guide/questions#is-there-a-ping-or-a-health-check"],
];

test("there are twenty questions, and three ways to ask each", () => {
  assert.equal(questions.length, 20);
  for (const [page, ...phrasings] of questions) assert.equal(phrasings.length, 3, page);
});

describe("each question", () => {
  for (const [page, ...phrasings] of questions) {
    for (const [index, phrasing] of phrasings.entries()) {
      const place = index === 0 ? "first" : "among the first three";
      test(`"${phrasing}" finds ${page} ${place}`, () => {
        const pages = [...new Set(results(phrasing).map((each) => each.page))];
        assert.ok(pages.slice(0, index === 0 ? 1 : 3).includes(page), pages.slice(0, 6).join("\n"));
      });
    }
    test(`${page} answers with code`, async () => {
      const html = await readFile(`${folder}${page}.html`, "utf8");
      assert.match(html, /<div class="language-(ts|js|sh|go|java|yaml)/);
    });
  }

  // A page without a heading answers in any part; the newer fifty name each heading.
  for (const [name, all, isAnswer] of [
    [
      "once asked elsewhere",
      asked,
      (found, each) => found.page === each || found.page + found.anchor === each,
    ],
    [
      "asked in public threads",
      threads,
      ({ page, anchor }, each) => page + anchor === each || (!each.includes("#") && page === each),
    ],
  ])
    test(`of fifty that were ${name}, 45 find the section with the answer, the others its page`, (t) => {
      assert.equal(all.length, 50);
      const others = [];
      for (const [thread, phrasing, answers] of all) {
        const found = results(phrasing).slice(0, 5);
        const expected = answers.split(" ");
        if (expected.some((each) => found.slice(0, 3).some((one) => isAnswer(one, each)))) continue;
        const isNear = expected.some((each) => found.some(({ page }) => page === each.split("#")[0]));
        others.push([isNear ? "with effort" : "not", phrasing, thread, found]);
      }
      t.diagnostic(`${all.length - others.length} of ${all.length}`);
      assert.deepEqual(
        others.filter(([how]) => how === "not"),
        [],
      );
      assert.ok(others.length <= 5, JSON.stringify(others, null, 1));
    });
});
