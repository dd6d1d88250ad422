// The reference sends its requests to the mock and shows the answers, has samples in three languages, and each section.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { startRecordedMock } from "./mock.js";
import { expectQuiet, useSite } from "./visit.js";

const site = useSite();
const file = (name) => fileURLToPath(new URL(`../../${name}`, import.meta.url));
const train = await readFile(file("examples/train.jsonl"), "utf8");

const operations = [
  {
    name: "resume",
    tag: "Reinforcement fine-tuning jobs",
    title: "Resume a reinforcement fine-tuning job",
    request: "POST /v1/accounts/acme/reinforcementFineTuningJobs/answer-quality:resume",
    body: (text) => assert.deepEqual(JSON.parse(text), {}),
    answer: "JOB_STATE_RUNNING",
  },
  {
    name: "rerank",
    tag: "Rerank",
    title: "Rerank documents",
    request: "POST /inference/v1/rerank",
    body: (text) => assert.ok(JSON.parse(text).documents.length > 0),
    answer: "relevance_score",
  },
  {
    name: "scale",
    tag: "Deployments",
    title: "Scale a deployment",
    request: "PATCH /v1/accounts/acme/deployments/support-search:scale",
    body: (text) => assert.ok(Number.isInteger(JSON.parse(text).replicaCount)),
    answer: "{}",
  },
  {
    name: "upload",
    tag: "Datasets",
    title: "Upload a dataset file",
    request: "POST /v1/accounts/acme/datasets/support-answers:upload",
    attach: "examples/train.jsonl",
    body: (text) => {
      assert.match(text, /name="file"; filename="train.jsonl"/);
      assert.ok(text.includes(train));
    },
    answer: "file-7d1f9a",
  },
];

let mock;
before(async () => {
  mock = await startRecordedMock();
});
after(() => mock?.close());

// The mock of the test has a port of its own, which is typed where a reader would type an address.
async function openOperation({ title, request }) {
  const opened = await site.open("reference/", { origins: [`http://${mock.host}`], apart: true });
  const { page } = opened;
  page.setDefaultTimeout(15_000);
  const address = page.getByRole("textbox", { name: "base_url" });
  await address.waitFor();
  assert.equal(await address.inputValue(), "http://127.0.0.1:4010");
  await address.fill(`http://${mock.host}`);
  await page.getByRole("link", { name: title }).first().click();
  const [, method, end] = /^(\w+) .*?(:\w+|\/v1\/\w+)$/.exec(request);
  const section = page.locator(`section[id*="/${method}/"][id$="${end}"]`);
  await section.waitFor();
  return { ...opened, section };
}

describe("the reference", () => {
  for (const operation of operations) {
    const { name, request, attach, body, answer } = operation;
    test(`sends ${name} to the mock and shows its answer`, async () => {
      const { page, section, seen, close } = await openOperation(operation);
      mock.received.length = 0;
      await section.getByRole("button", { name: "Test Request" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.waitFor();
      if (attach) await attachFile(page, dialog, file(attach));
      await dialog.getByRole("button", { name: /^Send/ }).first().click();
      await dialog.getByText("200 OK").waitFor();
      await dialog.getByText(answer).first().waitFor();
      const sent = mock.received.filter(({ method }) => method !== "OPTIONS");
      assert.deepEqual(
        sent.map(({ method, url }) => `${method} ${url}`),
        [request],
      );
      assert.equal(sent[0].headers.authorization, "Bearer any-key");
      body(`${sent[0].body}`);
      expectQuiet(seen);
      await close();
    });

    test(`has samples of ${name} in TypeScript, for curl and in Python`, async () => {
      const { page, section, close } = await openOperation(operation);
      let shown = "TypeScript";
      for (const [label, extension] of Object.entries({ TypeScript: "ts", curl: "sh", Python: "py" })) {
        if (label !== shown) {
          await section.getByRole("button", { name: shown, exact: true }).click();
          await page.getByRole("option", { name: label }).click();
          shown = label;
        }
        const sample = (await readFile(file(`docs/snippets/${name}.${extension}`), "utf8")).trim();
        const firstLine = sample.split("\n")[0];
        await section.locator("pre").filter({ hasText: firstLine }).first().waitFor();
        const blocks = await section.locator("pre").allTextContents();
        assert.ok(
          blocks.some((text) => text.replaceAll(/\s/g, "").includes(sample.replaceAll(/\s/g, ""))),
          label,
        );
      }
      await close();
    });
  }

  test("has what each entry of its menu names", async () => {
    const { page, close } = await site.open("reference/");
    const links = await page
      .locator('a[href^="#"]')
      .evaluateAll((all) => all.map((link) => link.getAttribute("href")));
    assert.ok(links.length > 20, `${links.length} links`);
    for (const link of new Set(links)) {
      await page.evaluate((hash) => {
        location.hash = hash;
      }, link);
      const id = decodeURIComponent(link.slice(1));
      await page.locator(`[id$="${id}"]`).first().waitFor({ state: "attached", timeout: 5000 });
    }
    await close();
  });

  test("on one page has what each of its links names", async () => {
    const { page, seen, close } = await site.open("reference.html");
    page.setDefaultTimeout(10_000);
    const menu = page.locator(".menu-content");
    for (const { title, tag } of operations) {
      // A group opens with a click; its operation's link is then there.
      await menu.getByText(tag, { exact: true }).first().click();
      await menu.getByText(title, { exact: true }).click();
      await page.getByRole("heading", { level: 2 }).filter({ hasText: title }).first().waitFor();
    }
    const links = await menu.locator("a").evaluateAll((all) => all.map((link) => link.getAttribute("href")));
    assert.deepEqual(
      links.filter((link) => !/^(#\/|https:\/\/redocly.com\/redoc)/.test(link)),
      [],
    );
    expectQuiet(seen);
    await close();
  });
});

async function attachFile(page, dialog, name) {
  const choosing = page.waitForEvent("filechooser");
  await dialog
    .getByRole("button", { name: /select file/i })
    .first()
    .click();
  await (await choosing).setFiles(name);
}
