// The order of the site: a new page is one line here, but for those of operations, codes and enumerations.
import { readdirSync } from "node:fs";
import type { DefaultTheme } from "vitepress";
import { entries } from "../../scripts/build/entries.js";
import { typePages } from "../build/api.js";
import { operationPages } from "../build/operations.js";

type Item = DefaultTheme.SidebarItem;

// A generated folder's pages, `npm run docs` having written them.
function pagesOf(folder: string): Item[] {
  const files = readdirSync(new URL(`../generated/${folder}/`, import.meta.url));
  const names = files.map((file) => file.replace(/\.md$/, "")).filter((name) => name !== "index");
  return names.sort().map((name) => ({ text: name, link: `/${folder}/${name}` }));
}

const guides: Item[] = [
  { text: "Rerank documents", link: "/guide/rerank" },
  { text: "Upload a dataset file", link: "/guide/upload" },
  { text: "Scale a deployment", link: "/guide/scale" },
  { text: "Resume a job", link: "/guide/resume" },
];

const referenceItems = operationPages.map(({ page, title }) => ({ text: title, link: `/reference/${page}` }));

// A group that is folded opens where the reader is: at first at most thirty links are seen.
const group = (text: string, items: Item[]): Item => ({ text, items });
const folded = (text: string, items: Item[]): Item => ({ text, items, collapsed: true });

export const sidebar: Item[] = [
  group("Start", [
    { text: "Quickstart", link: "/guide/quickstart" },
    { text: "Configure the client", link: "/guide/configure" },
  ]),
  group("The operations", [
    ...guides,
    { text: "Any other operation", link: "/guide/request" },
    { text: "Rank many queries", link: "/guide/bulk" },
    { text: "Prepare data", link: "/guide/prepare-data" },
  ]),
  group("When things fail", [
    { text: "Errors and status codes", link: "/guide/errors" },
    { text: "Retries and deadlines", link: "/guide/retries" },
    { text: "Questions and answers", link: "/guide/questions" },
    { text: "Every failure and its retries", link: "/guide/decision-table" },
    { text: "How an error response is read", link: "/guide/error-bodies" },
  ]),
  folded("Recipes", [
    { text: "All recipes", link: "/recipes/" },
    { text: "Rank 1,000 documents", link: "/recipes/rank-1000" },
    { text: "Rank on several machines", link: "/recipes/several-machines" },
    { text: "Scale to zero at night", link: "/recipes/scale-to-zero" },
    { text: "Did it run?", link: "/recipes/did-it-run" },
    { text: "Call from a browser", link: "/recipes/browser" },
    { text: "Next.js and others", link: "/recipes/nextjs" },
    { text: "Express, Hono, Nest, tRPC", link: "/recipes/express-nest" },
    { text: "Workers and Lambda", link: "/recipes/workers" },
    { text: "Jest and Vitest", link: "/recipes/jest-vitest" },
    { text: "A Python client", link: "/recipes/python" },
    { text: "A Go client", link: "/recipes/go" },
    { text: "A coding assistant", link: "/recipes/assistant" },
    { text: "Any job engine", link: "/recipes/job-engines" },
  ]),
  folded("In your program", [
    { text: "Test your code", link: "/guide/testing" },
    { text: "Logs and traces", link: "/guide/observing" },
    { text: "Command line", link: "/guide/cli" },
    { text: "AI SDK and LangChain", link: "/guide/adapters" },
    { text: "Migrate from another SDK", link: "/guide/coming-from" },
    { text: "Job queues", link: "/guide/beyond-one-machine" },
    { text: "Proxies, runtimes, bundlers", link: "/guide/runtimes" },
    { text: "undici and HTTP/2", link: "/guide/dispatchers" },
    { text: "Security", link: "/guide/security" },
    { text: "Other languages", link: "/guide/languages" },
    { text: "Benchmarks", link: "/guide/benchmarks" },
  ]),
  folded("The contract", [
    { text: "OpenAPI documents", link: "/guide/documents" },
    { text: "Test a client for conformance", link: "/guide/certify" },
    { text: "Conformance data", link: "/guide/conformance" },
    { text: "What is not documented", link: "/guide/unstated" },
    { text: "Extensions", link: "/guide/extensions" },
    { text: "Versioning", link: "/guide/versioning" },
    { text: "Changes of the package", link: "/guide/changelog" },
    { text: "Changes of the contract", link: "/guide/contract-changelog" },
    { text: "Contribute and report", link: "/guide/contribute" },
  ]),
  folded("The TypeScript API", [
    { text: "Overview", link: "/api/" },
    ...entries.map(({ name }) => ({
      text: name.replace(/^\./, "tunerank"),
      link: `/api/${name.replace(/^\./, "tunerank")}`,
    })),
    ...Object.entries(typePages).map(([name, text]) => ({ text, link: `/api/${name}` })),
  ]),
  folded("HTTP reference", [
    { text: "Overview", link: "/reference/" },
    ...referenceItems,
    { text: "The job and its parts", link: "/reference/job" },
    { text: "Limits", link: "/reference/limits" },
    { text: "Status codes", link: "/codes/", collapsed: true, items: pagesOf("codes") },
    { text: "Enumerations", link: "/enums/", collapsed: true, items: pagesOf("enums") },
  ]),
];
