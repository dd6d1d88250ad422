// The failure lab: the client and its stand-in run in the page, and end as the published decision table says.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe, test } from "node:test";
import { operationPages } from "../../docs/build/operations.ts";
import { calls } from "../../docs/lab/calls.ts";
import { presets } from "../../docs/lab/presets.ts";
import { expectQuiet, phone, useSite } from "./visit.js";

const site = useSite();
const file = new URL("../../contract/conformance/retries.json", import.meta.url);
const { rows } = JSON.parse(await readFile(file, "utf8"));
// Those that somebody wrote a call for, by the names of their guides.
const ids = Object.fromEntries(
  operationPages.filter(({ page }) => page in calls).map(({ page, id }) => [page, id]),
);

const lanes = (page) => page.locator(".lab-lane");
const verdict = (page) => page.locator(".lab-word");

async function ended(page) {
  await page.waitForFunction(() => {
    const states = [...document.querySelectorAll(".lab-result")].map(({ className }) => className);
    return states.length > 0 && !states.some((name) => name.includes("running"));
  });
}

describe("every request fails", { concurrency: 3 }, () => {
  for (const { label, row: event } of presets) {
    test(`with ${label}: each operation ends as the table says`, async () => {
      const { page, seen, close } = await site.open("", { apart: true });
      await page.getByText(label, { exact: true }).click();
      await page.getByText("every request", { exact: true }).click();
      await page.getByRole("button", { name: "Run" }).click();
      await ended(page);
      const row = rows.find((each) => each.event === event);
      for (const [operation, id] of Object.entries(ids)) {
        const { requests = 1, executed, executedBecause } = row?.operations[id] ?? {};
        const taken = executedBecause === "refused" ? " (refused)" : "";
        const result = row ? `executed: ${executed}${taken}` : "done";
        const expected = `${result}, ${requests} ${requests === 1 ? "request" : "requests"}`;
        assert.equal(
          await lanes(page).filter({ hasText: operation }).locator(".lab-result").innerText(),
          expected,
        );
        if (row === undefined) continue;
        await page.locator("label.lab-choice", { hasText: operation }).click();
        assert.equal(await verdict(page).innerText(), `executed: ${executed}`);
        const decision = page.locator(".lab-verdict").getByRole("link", { name: "Our decision" });
        assert.equal(await decision.count(), executedBecause === "refused" ? 1 : 0);
        const { code, notRetried } = row.operations[id];
        assert.ok(await page.locator(".lab-verdict dd", { hasText: code }).first().isVisible());
        assert.ok(await page.locator(".lab-verdict dd", { hasText: notRetried }).first().isVisible());
      }
      expectQuiet(seen);
      await close();
    });
  }
});

test("on the home page it runs when it is seen: upload stops where rerank goes on", async () => {
  const { page, seen, close } = await site.open("", { reducedMotion: "no-preference" });
  await page.locator(".lab").scrollIntoViewIfNeeded();
  await ended(page);
  assert.deepEqual(await page.locator(".lab-result").allInnerTexts(), [
    "done, 2 requests",
    "done, 2 requests",
    "executed: unknown, 1 request",
    "executed: unknown, 1 request",
  ]);
  assert.equal(await verdict(page).innerText(), "executed: unknown");
  expectQuiet(seen);
  await close();
});

test("where less motion is wished it waits for Run, and says so", async () => {
  const { page, close } = await site.open("");
  await page.locator(".lab-run").waitFor();
  await page.locator(".lab").scrollIntoViewIfNeeded();
  assert.equal(await lanes(page).count(), 0);
  assert.ok(await page.getByText("Press Run").isVisible());
  await close();
});

test("the keyboard alone chooses, changes the call, and runs it", async () => {
  const { page, close } = await site.open("guide/testing.html", { viewport: phone });
  await page.locator(".lab").scrollIntoViewIfNeeded();
  await page.getByRole("radio", { name: "UNAVAILABLE, named" }).focus();
  await page.keyboard.press("ArrowUp");
  assert.ok(await page.getByRole("radio", { name: "503 of a proxy" }).isChecked());
  await page.getByRole("textbox", { name: "The call to rerank" }).focus();
  await page.keyboard.press("Control+a");
  await page.keyboard.type('console.log("of my own", typeof client.rerank);');
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await ended(page);
  assert.equal(await page.locator(".lab-verdict pre").innerText(), "of my own function");
  await close();
});

test("a call that is wrong in itself is told apart from a failure", async () => {
  const { page, close } = await site.open("guide/retries.html");
  await page.locator(".lab").scrollIntoViewIfNeeded();
  await page.getByText("all four side by side").click();
  await page.locator(".lab textarea").fill("await client.nothing();");
  await page.getByRole("button", { name: "Run" }).click();
  await page.getByText("The call itself is wrong").waitFor();
  await close();
});

test("without JavaScript the snippet and its output stand there", async () => {
  const { page, close } = await site.open("", { apart: true, javaScriptEnabled: false });
  assert.ok(await page.locator(".lab").getByText("error.executed").first().isVisible());
  assert.ok(await page.locator(".lab .prints").getByText("not retried: not-safe").isVisible());
  await close();
});
