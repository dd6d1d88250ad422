// The search: words that people type and pages do not say lead to the page that answers.
import type { MarkdownEnv, MarkdownRenderer } from "vitepress";
import type { StatusCode } from "../../src/errors/codes.js";
import { httpStatuses } from "../../src/generated/contract.js";

/** Headings that the list below names, and no page has. */
export const missing: string[] = [];

// A page, or a heading of one, below docs/ as the sidebar names it. A page with a word of its own in its title needs none.
export const words: Readonly<Record<string, string>> = Object.fromEntries(
  Array.from(
    `
guide/quickstart: install getting started first call env environment variables api key apikey token
guide/questions: faq help why
guide/questions#why-did-my-upload-time-out: large upload timed bandwidth
guide/questions#how-do-i-upload-a-file-from-s3: s3 aws bucket gcs cloud storage presigned url getobject
guide/questions#how-do-i-prepare-a-data-file-from-csv: csv tsv excel convert jsonl training data prepare data format
guide/questions#how-large-may-a-document-be: maximum document length tokens characters limit size of a document
guide/questions#is-there-a-ping-or-a-health-check: ping health check healthcheck liveness readiness validate api key test connection
guide/questions#what-do-econnreset-epipe-and-socket-hang-up-mean: econnreset epipe socket hang up other side closed fetch failed und_err_socket connection reset
guide/questions#does-it-work-in-electron: electron desktop renderer
guide/questions#why-is-my-base-url-invalid: base url http instead of https insecure allowInsecureHttp
guide/configure: options settings configuration createclient
guide/configure#base-url-with-a-path-prefix: baseurl base url path prefix subpath gateway reverse proxy custom url
guide/configure#headers-for-every-call: default headers custom headers headers of all requests header content invalid characters telemetry
guide/configure#several-accounts: multiple accounts account per request tenant multi-tenant organization
guide/configure#throttle-requests: throttle requests per second over several processes limiter rps
guide/questions#does-it-create-jobs-or-list-datasets: list create delete cursor page_token pagination paging next page fine-tune start training evaluator
guide/rerank: relevance score ranking search rag top_n top k model documents for one query huge collection
guide/rerank#rank-many-items-in-batches: batch batching chunks limit of documents
guide/upload: large file big file retry upload multipart memory stream dataset jsonl 150 mb
guide/upload#progress-deadline-and-stored-bytes: progress bar percent onProgress checksum md5
guide/scale: scale to zero cost money price gpu accelerator autoscaling replicas kubernetes cron
guide/resume: poll polling wait until done job state watch fine-tuning training
guide/request: an operation that the client does not have throwOnError ok status without throwing get list poll custom endpoint other operations any path undocumented route missing method
guide/bulk: batch bulk jsonl millions concurrency throughput parallel rate limit checkpoint
guide/prepare-data: csv parquet pandas duckdb jq json array jsonl ndjson convert nan null utf-16 gzip excel beir trec flagembedding pos neg
guide/certify: certify certification certified conformance suite mutation testing badge prove implementation behaves wrapper comply
guide/errors: exception try catch status code statuserror error handling
guide/errors#handle-each-code-with-a-switch: switch error codes exhaustive instanceof error class never throwOnError
guide/errors#why-was-it-not-retried: timeout reached but not retried
guide/retries: retry backoff jitter idempotency idempotent exponential maxRetries
guide/retries#turn-retries-off: disable retries no retry maxRetries 0 maxNetworkRetries without retrying
guide/retries#mark-a-call-as-idempotent: idempotent retries of a post repeatable safe to retry
guide/retries#idempotency-keys: idempotency key idempotency-key duplicates send same thing twice safely
guide/retries#deadlines: timeout timeouts timeoutMs max timeout per request total timeout with retries abortcontroller deadline set timeout set timeouts timeoutMs headersTimeout bodyTimeout
guide/retries#cancel-a-request: abort abortcontroller abortsignal signal cancel user left page visitor closes tab
guide/retries#retries-during-an-outage: circuit breaker retry budget retry storm throttling
guide/testing#fake-timers: useFakeTimers fake timers advanceTimersByTime jest vitest sinon clock
guide/testing#scripted-failures: timeout stall test a timeout with a mock
guide/testing: mock offline jest vitest stub fake test double fixtures without network unit test nock msw
guide/observing: logging logger log logs debug pino winston metrics tracing spans
guide/observing#response-headers-and-request-ids: response headers request id x-request-id withResponse raw response rate limit headers x-ratelimit-remaining x-ratelimit-reset failed call
guide/observing#onattempt-a-function-for-each-attempt: hook event callback for every request interceptor middleware raw request messages sent received inspect
guide/cli: command line terminal shell npx github actions cron bash exit code env environment variables
guide/coming-from: cohere together voyage jina vllm openai migrate switch migration
guide/adapters: vercel ai sdk langchain langchain.js rag vector retriever compressor
guide/beyond-one-machine: queue queues worker bullmq redis sqs temporal workflow cron schedule durable
guide/runtimes: proxy http_proxy https_proxy httpAgent https-proxy-agent proxy password corporate lambda serverless bun deno cloudflare edge node docker kubernetes
guide/runtimes#custom-ca-and-client-certificates: tls ssl certificate ca client cert key pfx passphrase mtls mutual self-signed self signed rejectUnauthorized NODE_EXTRA_CA_CERTS unable to verify the first certificate private authority
guide/runtimes#client-certificate-and-proxy: proxyagent requesttls proxytls mtls cert
guide/runtimes#connections-and-keep-alive: keep-alive keepalive timeout idle socket connection was closed agent pool maxSockets sockets lambda cold start memory close
guide/runtimes#es-modules-and-commonjs: cjs commonjs require esm import typescript types tsconfig moduleResolution unexpected token export syntaxerror not a constructor any type types nodenext
guide/runtimes#pages-without-a-bundler: browser cors frontend script tag cdn importmap
guide/runtimes#bundlers: webpack vite esbuild rollup next.js nextjs turbopack bundle size tree shaking
guide/security: api key apikey secret token leak redact credentials vulnerability
guide/languages: python go golang java rust ruby curl c# php generate client generator sdk jvm maven
guide/benchmarks: speed performance latency memory fast bundle size
guide/documents: openapi swagger schema yaml json spec specification postman
guide/documents#llms-txt-for-language-models: llms.txt assistant copilot cursor claude ai agent mcp
guide/versioning: version semver breaking upgrade deprecated node version
guide/changelog: changelog what changed release notes new
codes/RESOURCE_EXHAUSTED: 429 rate limit rate limited quota throttled too many requests retry-after
codes/UNAVAILABLE: 503 502 econnrefused econnreset enotfound socket hang up down outage
codes/UNAUTHENTICATED: 401 unauthorized api key apikey token
codes/PERMISSION_DENIED: 403 forbidden
codes/INVALID_ARGUMENT: 400 bad request validation 422
codes/FAILED_PRECONDITION: precondition state not ready
codes/DEADLINE_EXCEEDED: 504 timeout timed out UND_ERR_HEADERS_TIMEOUT UND_ERR_BODY_TIMEOUT UND_ERR_CONNECT_TIMEOUT timeouterror headers timeout error
codes/CANCELLED: aborterror cancel canceled signal 499
reference/index: http api rest endpoint authorization bearer base url
reference/limits: limit maximum size rate limit quota
api/tunerank: typescript types interface options createclient
recipes/browser: cors browser frontend react page without api key my server backend proxy adds it key visible in the network dangerouslyAllowBrowser
recipes/browser#when-the-page-closes: beforeunload pagehide unload sendbeacon fetch keepalive closing page
guide/dispatchers#http-2: http2 h2 allowH2
recipes/nextjs: next.js nextjs next react route handler sveltekit svelte nuxt nitro astro remix react-router
recipes/express-nest: express hono nest nestjs trpc server middleware
recipes/workers: cloudflare edge worker lambda serverless
recipes/jest-vitest: jest vitest mock offline test without network unexpected token export transformIgnorePatterns
recipes/scale-to-zero: scale to zero cron github actions kubernetes schedule night cost gpu
recipes/did-it-run: upload timed out upload timed out poll polling watch job state executed
recipes/several-machines: split divide a file the work across between servers hosts
recipes/job-engines: inngest trigger.dev restate dbos vercel workflow pg-boss bullmq retry verdict
recipes/assistant: assistant cursor copilot claude llms.txt ai agent mcp skill tools
guide/upload#what-can-be-uploaded: createReadStream readable readstream stream buffer blob bytes toFile formdata-node retried request body stream
guide/upload#errors-and-retries: formdata
guide/rerank#rank-your-own-objects: objects document objects text key rank_fields
guide/configure#all-options: per request options per call
guide/quickstart#connect-to-your-service: apiKey api key environment variable empty not set
guide/quickstart#when-the-first-call-fails: throwing error apiKey environment variable empty 401 403
guide/bulk#rate-and-concurrency: concurrency maxConcurrency maxParallelCalls parallel p-limit max parallel calls
guide/runtimes#runtimes: outside of node bun deno cloudflare workers edge
guide/errors#what-counts-as-a-valid-response: validate response validation schema
guide/errors#fields-of-an-error: error response body message fields throwOnError raw body retries exhausted
guide/testing#with-undici-s-mockagent: mockagent intercept reply interceptors assert request body mock
guide/errors#did-it-run: what unknown means executed happened sure whether it ran
guide/rerank#tokens-and-cost: cost charged spend count usage billing
guide/upload#check-a-file-first: check jsonl file before upload validation
`.matchAll(/^(\S+): (.*)$/gm),
    ([, place, said]) => [place, said],
  ),
);

const mark = "searchwords";

// Behind the page's first heading, or the one that is named: its section is what the words find.
function withWords(html: string, page: string, operation: string): string {
  const entries = Object.entries(words).filter(([place]) => place.split("#")[0] === page);
  return entries.reduce((text, [place, said]) => {
    const anchor = place.split("#")[1];
    const heading = anchor ? new RegExp(`<h\\d id="${anchor}".*?</h\\d>`) : /<h1.*?<\/h1>/;
    if (!heading.test(text)) missing.push(place);
    const named = anchor
      ? said
      : `${said} ${operation} ${page.replace(/^codes\/(\w+)$|.*/, "$1 $1")} ${httpStatuses[page.slice(6) as StatusCode] ?? ""}`;
    return text.replace(heading, (found) => `${found}<p>${mark} ${named} ${mark}</p>`);
  }, html);
}

function render(source: string, env: MarkdownEnv, markdown: MarkdownRenderer): string {
  const html = markdown.render(source, Object.assign(env, { isSearch: true }));
  const page = env.relativePath.replace(/^generated\/(?!.*parts)/, "").replace(/\.md$/, "");
  // The name of a block's language is no word of its text.
  return withWords(
    html.replaceAll(/<span class="lang">.*?<\/span>/g, ""),
    page,
    env.frontmatter?.operation ?? "",
  );
}

/** The options of VitePress's own search. Its functions run in the reader's page too: they name nothing outside themselves. */
export const searchOptions = {
  _render: render,
  detailedView: false,
  translations: { button: { buttonAriaLabel: "Search" } },
  miniSearch: {
    options: {
      fields: ["title", "titles", "text", "words"],
      extractField: (section: Record<string, string>, field: string): string => {
        const [before = "", said = "", after = ""] = (section.text ?? "").split("searchwords");
        if (field === "words") return said;
        return field === "text" ? before + after : (section[field] ?? "");
      },
      // "stores", "stored" and "storing" are found by each other; small words find nothing.
      processTerm: (term: string): string | null => {
        const word = term.toLowerCase();
        if (
          /^(an?|and|are|am|at|be|by|did|do|does|for|from|have|has|how|i|if|in|is|it|its|may|me|my|of|on|or|our|own|so|that|the|their|there|they|this|to|us|was|we|were|what|when|where|which|while|who|why|will|with|you|your)$/.test(
            word,
          )
        )
          return null;
        if (word.length < 4 || /\d/.test(word)) return word;
        return word
          .replace(/ies$/, "y")
          .replace(/([^su])s$/, "$1")
          .replace(/(.{4})(ing|ed|er)$|(.{5})ly$/, "$1$3")
          .replace(/([^aeiouls])\1$/, "$1")
          .replace(/(..)e$/, "$1");
      },
    },
    searchOptions: {
      boost: { title: 2, titles: 1, text: 1, words: 3 },
      fuzzy: (term: string) => (term.length > 5 ? 0.15 : false),
      prefix: (term: string) => term.length > 2,
      // A guide or a recipe answers, a code is found by its name; lists of everything come last.
      boostDocument: (id: string): number => {
        const lists =
          /guide\/(bench|changelog|conformance|certify|decision|error-bodies|extensions|unstated)/;
        if (lists.test(id)) return 0.4;
        if (/\/(api|enums)\//.test(id)) return 0.3;
        if (/\/reference\//.test(id)) return 0.5;
        if (/codes\/[A-Z_]+\.html#[a-z]+(-[a-z]+)?$/.test(id) && !/a-response|to-do/.test(id)) return 1.6;
        return /\/recipes\/|guide\/(rerank|upload|scale|resume)\./.test(id) ? 1.2 : 1;
      },
    },
  },
};
