// Twenty questions of people who have a problem: the search finds the page that answers each, with code, however it is asked.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, describe, test } from "node:test";
import { words } from "../../docs/.vitepress/search.ts";
import { folder } from "./site.js";
import { expectQuiet, useSite } from "./visit.js";

const site = useSite();

// The page, and three ways to ask: the first finds it first, the others among the first three.
const questions = [
  ["recipes/what-became-of-it", "upload timed out", "is my file stored", "did the data arrive"],
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

// Words that say nothing of what is asked, and endings that change nothing.
const small =
  /^(a|an|and|are|am|at|be|did|do|does|for|from|have|how|i|in|is|it|its|may|my|not|of|on|one|or|our|own|so|that|the|to|two|three|us|was|we|what|which|while|whether|with|without)$/;
const stem = (word) => word.replace(/(ing|ed|es|s|e)$/, "");
const stems = (text) =>
  (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).filter((word) => !small.test(word)).map(stem);

const headings = async (page) => {
  const html = await readFile(`${folder}${page}.html`, "utf8").catch(() => "");
  return [...html.matchAll(/<h[1-4][^>]*>(.*?)<\/h[1-4]>/gs)].map(([, inner]) =>
    inner.replace(/<[^>]*>/g, " "),
  );
};

test("there are twenty questions, and three ways to ask each", () => {
  assert.equal(questions.length, 20);
  for (const [page, ...phrasings] of questions) assert.equal(phrasings.length, 3, page);
});

test("two of each three are asked in words that neither the search's list nor the page's headings have", async () => {
  const listed = Object.values(words).flatMap(stems);
  for (const [page, ...phrasings] of questions) {
    const known = new Set([...listed, ...(await headings(page)).flatMap(stems)]);
    const foreign = phrasings.filter((phrasing) => {
      const asked = stems(phrasing);
      return asked.filter((each) => !known.has(each)).length * 2 >= asked.length;
    });
    assert.ok(foreign.length >= 2, `${page}: ${phrasings.join(", ")}`);
  }
});

describe("each question", () => {
  let opened;
  before(async () => {
    opened = await site.open("index.html", { apart: true });
    await opened.page.getByRole("button", { name: "Search" }).click();
  });
  after(async () => {
    expectQuiet(opened.seen);
    await opened.close();
  });
  async function results(query) {
    const { page } = opened;
    const input = page.locator("#localsearch-input");
    await input.fill("");
    await page.locator(".result").first().waitFor({ state: "detached" });
    await input.fill(query);
    await page.locator(".result").first().waitFor({ timeout: 3000 });
    return page.locator(".result").evaluateAll((all) =>
      all.map((each) => ({
        page: new URL(each.href).pathname.replace(/^\/|\.html$/g, ""),
        excerpt: each.querySelector(".excerpt")?.textContent ?? "",
        marked: [...each.querySelectorAll("mark")].map(({ textContent }) => textContent),
      })),
    );
  }

  for (const [page, ...phrasings] of questions) {
    for (const [index, phrasing] of phrasings.entries()) {
      const place = index === 0 ? "first" : "among the first three";
      test(`"${phrasing}" finds ${page} ${place}`, async () => {
        const found = await results(phrasing);
        const pages = found.map((each) => each.page);
        assert.ok(pages.slice(0, index === 0 ? 1 : 3).includes(page), pages.slice(0, 6).join("\n"));
        assert.equal(new Set(pages).size, pages.length, "a page is found once");
        const { excerpt, marked } = found[pages.indexOf(page)];
        assert.ok(excerpt.length > 20, "it shows an excerpt");
        assert.ok(marked.length > 0, "the excerpt marks what was asked");
      });
    }
    test(`${page} answers with code`, async () => {
      const html = await readFile(`${folder}${page}.html`, "utf8");
      assert.match(html, /<div class="language-(ts|js|sh|go|java|yaml)/);
    });
  }
});
