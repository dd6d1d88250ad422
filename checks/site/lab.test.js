// The failure lab: what is shown of every cause is what the conformance data says, and what the test service counts.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe, test } from "node:test";
import { presets } from "../../docs/lab/presets.ts";
import { expectQuiet, phone, useSite } from "./visit.js";

const site = useSite();
const json = async (file) => JSON.parse(await readFile(new URL(`../../${file}`, import.meta.url), "utf8"));
const { rows } = await json("contract/conformance/retries.json");
const says = { no: "it did not run", unknown: "it may have run", yes: "it ran" };
const verdicts = (page) => page.locator(".lab-word").allInnerTexts();

async function choose(page, { label }) {
  await page.getByRole("radio", { name: label, exact: true }).check({ force: true });
}

describe("of each cause, the upload's verdict is that of the table", () => {
  for (const preset of presets) {
    test(preset.label, async () => {
      const { page, seen, close } = await site.open("", { apart: true });
      // The cause that the page begins with is chosen again.
      await choose(
        page,
        presets.find((each) => each !== preset),
      );
      await choose(page, preset);
      const row = rows.find(({ event }) => event === preset.row)?.operations.uploadDatasetFile;
      const isDone = row === undefined || row.requests > 1;
      const isStored = isDone || preset.failure.executes || preset.failure.truncate;
      const what = isStored ? "Stored once." : "Not stored.";
      const [client] = await verdicts(page);
      assert.equal(client, isDone ? what : `${what} The error says: ${says[row.executed]}.`);
      expectQuiet(seen);
      await close();
    });
  }
});

test("a request takes as long with the client as in the loop: nothing is loaded while it is timed", async () => {
  const [client, loop] = (await json("docs/generated/parts/lab.json"))["upload lost"];
  const [one, other] = [client, loop].map(({ stretches: [first] }) => first.to - first.from);
  assert.ok(Math.abs(one - other) < 60, `${one} ms and ${other} ms`);
});

for (const [name, viewport, most] of [
  ["a desk", { width: 1280, height: 900 }, 900],
  ["a telephone", phone, 844],
]) {
  test(`on ${name} the causes and both verdicts are on one screen, and nobody has to choose to see who stored it twice`, async () => {
    const { page, seen, close } = await site.open("", { viewport, apart: true });
    assert.deepEqual(await verdicts(page), [
      "Stored once. The error says: it may have run.",
      "Stored twice.",
    ]);
    const causes = await page.locator(".lab-causes").boundingBox();
    const second = await page.locator(".lab-lane").nth(1).boundingBox();
    const bottom = second.y + second.height;
    assert.ok(bottom - causes.y < most - 64, `cause and effect are ${bottom - causes.y} px apart`);
    expectQuiet(seen);
    await close();
  });
}

test("what has the keyboard's focus is seen, all over the home page", async () => {
  const { page, close } = await site.open("", { apart: true });
  for (const fold of await page.locator(".lab-fold summary").all()) await fold.click();
  await page.locator("body").click({ position: { x: 5, y: 5 } });
  const unseen = new Set();
  for (let index = 0; index < 40; index++) {
    await page.keyboard.press("Tab");
    const [name, isSeen] = await page.evaluate(() => {
      const element = document.activeElement;
      const drawn = element.matches(".lab-choice input") ? element.nextElementSibling : element;
      const { outlineStyle, outlineWidth } = getComputedStyle(drawn);
      return [element.outerHTML.slice(0, 90), outlineStyle !== "none" && parseFloat(outlineWidth) >= 2];
    });
    if (!isSeen && !name.startsWith("<body")) unseen.add(name);
  }
  assert.deepEqual([...unseen], []);
  await close();
});

test("the loop is shown as it runs: three attempts, network errors, 429 and 5xx", async () => {
  const { page, close } = await site.open("", { apart: true });
  await page.getByText("The code of both").click();
  const shown = await page.locator(".lab-fold pre").last().innerText();
  for (const part of ["fetch(url", "attempt === 3", "status === 429", "status >= 500", "catch (error)"]) {
    assert.ok(shown.includes(part), part);
  }
  await close();
});

test("without JavaScript the recorded run stands there, without controls that do nothing", async () => {
  const { page, close } = await site.open("", { apart: true, javaScriptEnabled: false });
  assert.ok(await page.getByText("Stored twice.").isVisible());
  assert.ok(await page.getByText("Stored once. The error says: it may have run.").isVisible());
  assert.equal(await page.locator(".lab-choice:visible").count(), 0);
  await close();
});
