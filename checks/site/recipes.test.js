// What somebody comes for is two clicks from the home page; and a page in Chromium asks its own backend, as a recipe says.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import path from "node:path";
import { createInterface } from "node:readline";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { blockOf, saveBlocks } from "../../docs/build/blocks.ts";
import { createTestService } from "../../src/testing/index.ts";
import { expectQuiet, useSite } from "./visit.js";

const site = useSite();
const root = fileURLToPath(new URL("../../", import.meta.url));

/** What somebody wants, the links they click, and the words that answer, below the heading where they arrive. */
const wishes = [
  [
    "rank 1,000 documents and keep 10",
    ["rank 1,000 documents and keep 10"],
    "Rank 1,000 documents",
    "topN: 10",
  ],
  [
    "why was my upload not retried, and what now",
    ["Why was my upload not retried?"],
    "Why was my upload",
    "Check the dataset",
  ],
  ["scale to zero at night", ["scale to zero at night"], "Scale to zero", "/srv/scale/scale.sh 0"],
  ["watch a resumed job", ["watch a resumed job"], "Watch a job", "read the job once a minute"],
  ["a Python client", ["use Python"], "A Python client", "pip install -r client/requirements.txt"],
  ["a Go client", ["Go"], "A Go client", "go run ./rank"],
  [
    "FAILED_PRECONDITION",
    ["Each status code", "FAILED_PRECONDITION"],
    "FAILED_PRECONDITION",
    "do not retry until state is fixed",
  ],
  ["test without a network", ["test without a network"], "Test with Jest or Vitest", "fetch: service.fetch"],
  ["browsers", ["call from a browser"], "Call from a browser", "access-control-allow-origin"],
  ["what changed", ["know what changed"], "Changelog", "0.2.0"],
  ["an assistant", ["use an AI coding assistant"], "Use it from an agent", "dist/llms.txt"],
  ["a proxy", ["go through a proxy"], "Proxies", 'proxy: "env"'],
];

describe("from the home page, in at most two clicks:", () => {
  for (const [wish, links, heading, answer] of wishes) {
    test(`${wish}, by ${links.map((link) => `"${link}"`).join(" and ")}`, async () => {
      assert.ok(links.length <= 2);
      const { page, seen, close } = await site.open("");
      for (const name of links) await page.getByRole("link", { name, exact: true }).first().click();
      await page.getByRole("heading", { name: heading }).first().waitFor();
      const found = page.locator(".vp-doc").getByText(answer).first();
      await found.waitFor();
      const anchor = new URL(page.url()).hash.slice(1);
      // The answer is in the part that the link names, before the next heading of its rank.
      if (anchor !== "") assert.ok((await sectionOf(page, anchor)).includes(answer), `not below #${anchor}`);
      expectQuiet(seen);
      await close();
    });
  }
});

function sectionOf(page, anchor) {
  return page.evaluate((id) => {
    const heading = document.getElementById(id);
    const texts = [];
    for (let next = heading?.nextElementSibling; next; next = next.nextElementSibling) {
      if (/^H[12]$/.test(next.tagName)) break;
      texts.push(next.textContent);
    }
    return texts.join("\n");
  }, anchor);
}

test("each recipe stands in the list of them", async () => {
  const { page, close } = await site.open("recipes/index.html");
  const hrefs = (selector) =>
    page.locator(selector).evaluateAll((links) => links.map(({ pathname }) => pathname));
  const listed = await hrefs(".vp-doc li a");
  const own = (await hrefs(".VPSidebar a[href*='/recipes/']")).filter((link) => !link.endsWith("/recipes/"));
  await close();
  assert.ok(own.length >= 11, `${own}`);
  assert.deepEqual(
    own.filter((link) => !listed.includes(link)),
    [],
  );
});

describe("the page of the recipe, in Chromium,", () => {
  const started = {};

  before(async () => {
    started.folder = await mkdtemp(path.join(root, "docs/generated/recipe-"));
    started.service = createTestService({ apiKey: "backend-key" });
    started.mockServer = await started.service.listen();
    started.pages = createServer((_request, response) => {
      response.writeHead(200, { "content-type": "text/html" });
      response.end("<!doctype html><title>Search</title>");
    }).listen(0, "127.0.0.1");
    await once(started.pages, "listening");
    started.page = `http://127.0.0.1:${started.pages.address().port}`;
    // Within the project, where it finds the package.
    saveBlocks("recipes/browser.md", started.folder);
    const backend = path.join(started.folder, "backend.ts");
    const args = ["--conditions=tunerank-source", "--import", "tsx", backend];
    const env = {
      ...process.env,
      TUNERANK_BASE_URL: started.mockServer.url,
      TUNERANK_API_KEY: "backend-key",
      PAGE_ORIGIN: started.page,
      PORT: "0",
    };
    started.backend = spawn(process.execPath, args, { cwd: root, env, stdio: ["ignore", "pipe", "inherit"] });
    let said = "";
    for await (const line of createInterface(started.backend.stdout)) {
      said += line;
      const [, port] = /port: (\d+)/.exec(said) ?? [];
      if (port === undefined) continue;
      started.address = `http://127.0.0.1:${port}`;
      break;
    }
    started.program = blockOf("recipes/browser.md", "page.js").text.replace(
      "https://backend.example.com",
      started.address,
    );
  });
  after(async () => {
    started.pages.close();
    started.backend.kill();
    await once(started.backend, "exit");
    await started.mockServer.close();
    await rm(started.folder, { recursive: true });
  });

  // Runs the page's own program as the module that it is.
  async function shownBy(origin) {
    const { page, close } = await site.open("404.html", { origins: [started.page, started.address] });
    await page.goto(origin);
    const text = page.evaluate(
      (program) =>
        new Promise((resolve) => {
          const script = document.createElement("script");
          script.type = "module";
          addEventListener("unhandledrejection", ({ reason }) => resolve(String(reason)));
          addEventListener("error", ({ message }) => resolve(message));
          addEventListener("done", () => resolve(document.body.textContent));
          script.textContent = `${program}\ndispatchEvent(new Event("done"));`;
          document.head.append(script);
        }),
      started.program,
    );
    const shown = await text;
    await close();
    return shown;
  }

  test("shows what its backend ranked", async () => {
    assert.equal(await shownBy(started.page), "I forgot my password: choose Reset.");
    const [request] = started.service.requests;
    assert.equal(request.path, "/inference/v1/rerank");
  });

  test("of another origin learns nothing", async () => {
    assert.match(await shownBy(`${site.origin}/404.html`), /Failed to fetch/);
  });
});
