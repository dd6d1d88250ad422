// The HTTP reference has every operation, field and code of the contract, and the TypeScript API every entry of the package.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe, test } from "node:test";
import { parse } from "yaml";
import { blockOf } from "../../docs/build/blocks.ts";
import { pageOf } from "../../docs/build/operations.ts";
import { entries } from "../../scripts/build/entries.ts";
import { phone, useSite } from "./visit.js";

const site = useSite();
const read = (name) => readFile(new URL(`../../${name}`, import.meta.url), "utf8");
const contract = parse(await read("openapi.yaml"));

const job = contract.components.schemas.ReinforcementFineTuningJob;
const resolve = ({ $ref, ...value }) =>
  $ref
    ? $ref
        .slice(2)
        .split("/")
        .reduce((node, step) => node[step], contract)
    : value;

const withoutScripts = { javaScriptEnabled: false };

describe("without JavaScript the page of", () => {
  for (const [path, methods] of Object.entries(contract.paths)) {
    for (const [method, told] of Object.entries(methods)) {
      const { page: name } = pageOf(told.operationId);
      test(`${name} has its request, fields, codes and samples`, async () => {
        const { page, close } = await site.open(`reference/${name}.html`, withoutScripts);
        const text = await page.locator(".vp-doc").innerText();
        assert.ok(text.includes(`${method.toUpperCase()} ${path}`));
        const bodies = Object.values(told.requestBody.content).map(({ schema }) => resolve(schema));
        const response = resolve(told.responses["200"].content["application/json"].schema);
        // A job has a page of its own.
        const shown = response === job ? bodies : [...bodies, response];
        const fields = shown.flatMap(({ properties = {} }) => Object.keys(properties));
        const parameters = (told.parameters ?? []).map((each) => resolve(each).name);
        for (const word of [...fields, ...parameters]) assert.ok(text.includes(word), word);
        for (const status of Object.keys(told.responses)) {
          assert.ok(text.includes(status === "default" ? "any other" : status), status);
        }
        const samples = await page.locator(".vp-code-group code").allTextContents();
        assert.equal(samples.length, 5);
        for (const other of samples.slice(3))
          assert.match(other, new RegExp(`${told.operationId}(WithBody)?`, "i"));
        for (const [index, extension] of ["ts", "sh", "py"].entries()) {
          const { text } = blockOf(`guide/${name}.md`, `${name}.${extension}`);
          assert.equal(samples[index].trim(), text.trim());
        }
        await close();
      });
    }
  }
});

test("every field of a job and of its parts is there, and a part opens where a link leads to it", async () => {
  const { page, close } = await site.open("reference/job.html", withoutScripts);
  const text = await page.locator(".vp-doc").evaluate((element) => element.textContent);
  const seen = [];
  const visit = (name) => {
    const { properties = {}, enum: values } = contract.components.schemas[name];
    if (values || seen.includes(name)) return;
    seen.push(name);
    for (const [field, schema] of Object.entries(properties)) {
      assert.ok(text.includes(field), `${name}.${field}`);
      const reference = schema.$ref ?? schema.allOf?.[0]?.$ref;
      if (reference) visit(reference.split("/").pop());
    }
  };
  visit("ReinforcementFineTuningJob");
  assert.ok(seen.length > 10, `${seen}`);
  await page.locator('a[href$="#lossconfig"]').first().click();
  assert.ok(await page.locator("#lossconfig").isVisible());
  await close();
});

test("so it does where the page's own script follows the link", async () => {
  const { page, close } = await site.open("reference/job.html");
  await page.locator('a[href$="#lossconfig"]').first().click();
  await page.locator("#lossconfig").waitFor();
  assert.ok(await page.locator("#lossconfig").isVisible());
  await close();
});

const referencePages = ["rerank", "upload", "scale", "resume"].map((name) => `reference/${name}.html`);

test("at 1440 px no line of a reference sample is cut, in any language", async () => {
  for (const address of referencePages) {
    const { page, close } = await site.open(address, { viewport: { width: 1440, height: 900 } });
    const labels = await page.locator(".vp-code-group label").allInnerTexts();
    assert.deepEqual(
      labels.map((label) => label.replace(/ .*/s, "")),
      ["TypeScript", "curl", "Python", "Go", "Java"],
      address,
    );
    for (const label of labels) {
      await page.locator(".vp-code-group label", { hasText: label }).click();
      const cut = await page
        .locator(".vp-code-group .active pre, .vp-doc > div > div[class*=language-] pre")
        .evaluateAll((all) => all.filter((each) => each.scrollWidth > each.clientWidth + 1).length);
      assert.equal(cut, 0, `${address}, ${label}`);
    }
    assert.equal(await page.locator("details.unstated").count(), 1, address);
    await close();
  }
});

test("at 390 px a copy button covers no code", async () => {
  const { page, close } = await site.open("reference/upload.html", { viewport: phone });
  const pairs = await page
    .locator(".vp-code-group .active")
    .evaluateAll((all) =>
      all.map((each) => [
        each.querySelector("button.copy").getBoundingClientRect().left,
        each.querySelector("pre").getBoundingClientRect().right,
      ]),
    );
  assert.ok(pairs.length > 0);
  for (const [button, code] of pairs) assert.ok(code <= button + 1, `${code} px, ${button} px`);
  await close();
});

const names = entries.map(({ name }) => name.replace(/^\./, "tunerank"));

describe("the API page of", () => {
  for (const name of names) {
    test(`${name} has its signatures with types, and headings to link to, without JavaScript`, async () => {
      const { page, close } = await site.open(`api/${name}.html`, withoutScripts);
      assert.equal((await page.locator("h1").innerText()).replaceAll("\u200b", "").trim(), name);
      const signatures = await page.locator(".vp-doc div.language-ts code").allInnerTexts();
      const functions = signatures.filter((text) => text.startsWith("function "));
      assert.notEqual(functions.length, 0);
      for (const text of functions) assert.match(text, /^function \w+(<.*>)?\((\s*\w+\??: |\))/s, text);
      const ids = await page.locator(".vp-doc :is(h2, h3)").evaluateAll((all) => all.map(({ id }) => id));
      assert.ok(ids.every((id) => id !== "") && new Set(ids).size === ids.length, `${ids}`);
      assert.equal(await page.locator(".vp-doc details[open]").count(), 0);
      await close();
    });
  }
});

test("the overview leads to every entry, and says what each is for", async () => {
  const { page, close } = await site.open("api/index.html");
  for (const name of names) {
    const row = page.getByRole("row").filter({ has: page.getByRole("link", { name, exact: true }) });
    assert.ok((await row.locator("td").nth(1).innerText()).length > 20, name);
  }
  await close();
});
