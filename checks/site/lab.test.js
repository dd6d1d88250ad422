// The failure lab: what is shown of every choice is what the conformance data says, and what the mock server counts.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe, test } from "node:test";
import { operationPages } from "../../docs/build/operations.ts";
import { operations } from "../../docs/lab/calls.ts";
import { presets } from "../../docs/lab/presets.ts";
import { expectQuiet, phone, useSite } from "./visit.js";

const site = useSite();
const file = new URL("../../contract/conformance/retries.json", import.meta.url);
const { rows } = JSON.parse(await readFile(file, "utf8"));
// Those that somebody wrote a call for, by the names of their guides.
const ids = Object.fromEntries(operationPages.map(({ page, id }) => [page, id]));

const says = {
  no: "The error says: it did not run.",
  unknown: "The error says: it may have run.",
  yes: "The error says: it ran.",
};
const ending = {
  resume: ["Not resumed.", "Resumed."],
  rerank: ["Not ranked.", "Ranked."],
  scale: ["Not scaled.", "Scaled to zero."],
};
const stored = ["Not stored.", "Stored once.", "Stored twice.", "Stored three times."];

// Whether the mock server does what it is asked when a request meets the failure.
const executes = ({ failure }) => Boolean(failure?.executes || failure?.truncate);

// What an operation leaves behind after so many requests, of which the last ended well or not.
function left(operation, preset, requests, isDone) {
  if (preset.failure === undefined) return 1;
  if (operation === "rerank") return Number(isDone);
  const times = executes(preset) ? requests : Number(isDone);
  return operation === "upload" ? times : Math.min(times, 1);
}

const words = (operation, times) =>
  operation === "upload" ? stored[times] : ending[operation][Math.min(times, 1)];

/** What the lane of the client must show: its verdict, its requests, its row. */
function expectedOfClient(preset, often, operation) {
  const row = rows.find(({ event }) => event === preset.row)?.operations[ids[operation]];
  const isDone = row === undefined || (often === "the first" && row.requests > 1);
  const requests = row === undefined ? 1 : isDone ? 2 : row.requests;
  const what = words(operation, left(operation, preset, requests, isDone));
  return { row, isDone, requests, verdict: isDone ? what : `${what} ${says[row.executed]}` };
}

/** What the loop's lane must show: three attempts at network errors, 429 and 5xx; a job is resumed only once. */
function expectedOfLoop(preset, often, operation) {
  const { failure } = preset;
  const status = failure?.status ?? (failure?.code && 503);
  const again = failure?.reset || failure?.stall || status === 429 || status >= 500;
  const requests = !again ? 1 : often === "every" ? 3 : 2;
  const isDone = failure === undefined || (again && often === "the first");
  const isRefused = isDone && operation === "resume" && executes(preset);
  const times = left(operation, preset, requests, isDone && !isRefused);
  return { requests, isDone: isDone && !isRefused, what: words(operation, times) };
}

const lane = (page, index) => page.locator(".lab-lane").nth(index);
const choose = (page, text) => page.locator(".lab-choice").getByText(text, { exact: true }).click();

async function ended(page) {
  await page.locator(".lab-results[aria-busy=false]").waitFor();
}

// From now on: each verdict that is seen, in any frame, with what is chosen then.
function watchVerdicts() {
  globalThis.seenVerdicts = [];
  const look = () => {
    const checked = [...document.querySelectorAll(".lab-choice input:checked")];
    const chosen = checked.map(({ parentElement }) => parentElement.innerText.trim()).join(" / ");
    const verdicts = [...document.querySelectorAll(".lab-word")].map((each) => each.innerText.trim());
    const seen = `${chosen}: ${verdicts.join(" | ")}`;
    if (globalThis.seenVerdicts.at(-1) !== seen) globalThis.seenVerdicts.push(seen);
    requestAnimationFrame(look);
  };
  look();
}

describe("every combination is clicked", { concurrency: 5 }, () => {
  for (const preset of presets) {
    test(`${preset.label}: each verdict is that of its choice`, async () => {
      const { page, seen, close } = await site.open("", { apart: true });
      await page.locator(".lab-more").click();
      await page.evaluate(watchVerdicts);
      const expected = new Map();
      for (const often of ["the first", "every"]) {
        for (const operation of operations) {
          await choose(page, preset.label);
          await choose(page, often);
          await choose(page, operation);
          await ended(page);
          const client = expectedOfClient(preset, often, operation);
          const loop = expectedOfLoop(preset, often, operation);
          const name = `${preset.label}, ${often}, ${operation}`;
          const verdicts = await page.locator(".lab-word").allInnerTexts();
          assert.equal(verdicts[0], client.verdict, name);
          if (loop.isDone) assert.equal(verdicts[1], loop.what, name);
          else
            assert.ok(
              verdicts[1].startsWith(`${loop.what} The error says only: `) || verdicts[1] === loop.what,
              `${name}: ${verdicts[1]}`,
            );
          assert.equal(
            /The error says/.test(verdicts[1]),
            !loop.isDone && !/twice|three/.test(loop.what),
            name,
          );
          for (const [index, { requests }] of [client, loop].entries()) {
            const count = await lane(page, index).locator(".lab-count").innerText();
            assert.match(count.trim(), new RegExp(`^${requests} requests?\\b`), name);
            if (operation !== "upload") continue;
            const files = stored.findIndex((each) => verdicts[index].startsWith(each));
            assert.match(count, new RegExp(`, ${files} files? stored`), name);
            assert.equal(await lane(page, index).locator(".lab-files i").count(), files);
          }
          const isAlike = client.isDone && loop.isDone && client.verdict === loop.what;
          assert.equal(await page.locator(".lab-alike").count(), Number(isAlike), name);
          await expectError(page, client);
          expected.set(`${preset.label} / ${often} / ${operation}`, verdicts.join(" | "));
        }
      }
      expectBelonging(await page.evaluate(() => globalThis.seenVerdicts), expected);
      expectQuiet(seen);
      await close();
    });
  }
});

// The error of the client, as its row has it.
async function expectError(page, { row, isDone }) {
  const facts = page.locator(".lab-fold", { hasText: "The error of tunerank" });
  assert.equal(await facts.count(), Number(!isDone));
  if (isDone) return;
  const text = await facts.evaluate((element) => element.textContent);
  for (const fact of [row.code, row.executed, row.notRetried])
    assert.ok(text.includes(fact), `${fact}: ${text}`);
  const decision = facts.getByRole("link", { name: "The list of assumptions.", includeHidden: true });
  assert.equal(await decision.count(), Number(row.executedBecause === "refused"));
}

// While something runs there is no verdict; what else was seen is the verdict of what was chosen then.
function expectBelonging(seen, expected) {
  assert.ok(seen.length > expected.size, `${seen}`);
  const at = [...expected.keys()][0];
  for (const each of seen.slice(seen.findIndex((one) => one.startsWith(at)))) {
    const [chosen, verdicts] =
      each.split(": ", 2).length === 2
        ? [each.slice(0, each.indexOf(": ")), each.slice(each.indexOf(": ") + 2)]
        : [];
    const own = expected.get(chosen)?.split(" | ");
    for (const [index, verdict] of verdicts.split(" | ").entries()) {
      assert.ok(verdict === "…" || verdict === own?.[index], `beside ${chosen} stood ${verdict}`);
    }
  }
}

for (const [name, viewport, most] of [
  ["a desk", { width: 1280, height: 900 }, 900],
  ["a telephone", phone, 844],
]) {
  test(`on ${name} the causes and both verdicts are on one screen, and nobody has to choose to see who stored it twice`, async () => {
    const { page, seen, close } = await site.open("", { viewport, apart: true });
    assert.deepEqual(await page.locator(".lab-word").allInnerTexts(), [
      "Stored once. The error says: it may have run.",
      "Stored twice.",
    ]);
    const causes = await page.locator(".lab-causes").boundingBox();
    const second = await lane(page, 1).boundingBox();
    const bottom = second.y + second.height;
    assert.ok(bottom - causes.y < most - 64, `cause and effect are ${bottom - causes.y} px apart`);
    expectQuiet(seen);
    await close();
  });
}

test("what is chosen before the lab's code has arrived stays chosen, and runs", async () => {
  const { page, close } = await site.open("guide/testing.html", { apart: true, viewport: phone });
  let arrive;
  const held = new Promise((resolve) => {
    arrive = resolve;
  });
  let asked;
  const isAsked = new Promise((resolve) => {
    asked = resolve;
  });
  await page.route("**/FailureLab*.js", async (route) => {
    asked();
    await held;
    await route.continue();
  });
  const radio = (name) => page.getByRole("radio", { name, exact: true });
  await radio("The service is busy and says so").focus();
  await isAsked;
  await page.keyboard.press("ArrowUp");
  await radio("every").focus();
  await page.keyboard.press("Space");
  assert.ok(await radio("Too many requests").isChecked());
  arrive();
  await page.getByText("It ran in this page:").waitFor();
  await ended(page);
  assert.ok(await radio("Too many requests").isChecked());
  assert.ok(await radio("every").isChecked());
  await close();
});

test("the keyboard alone chooses, changes the call, and runs it", async () => {
  const { page, close } = await site.open("guide/testing.html", { viewport: phone });
  await page.getByRole("radio", { name: "The service is busy and says so" }).focus();
  await page.keyboard.press("ArrowUp");
  assert.ok(await page.getByRole("radio", { name: "Too many requests", exact: true }).isChecked());
  await ended(page);
  await page.getByText("The code of both").focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  const editor = page.getByRole("textbox", { name: "tunerank: change it" });
  assert.ok(await editor.evaluate((element) => element === document.activeElement));
  await page.keyboard.press("Control+a");
  await page.keyboard.type('console.log("of my own", typeof client.rerank);');
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.getByText("of my own function").waitFor();
  await close();
});

test("what has the keyboard's focus is seen, all over the home page", async () => {
  const { page, close } = await site.open("", { apart: true });
  for (const fold of await page.locator(".lab-fold summary").all()) await fold.click();
  await page.locator("body").click({ position: { x: 5, y: 5 } });
  const unseen = new Set();
  let editors = 0;
  for (let index = 0; index < 45; index++) {
    await page.keyboard.press("Tab");
    const [name, isSeen] = await page.evaluate(() => {
      const element = document.activeElement;
      const drawn = element.matches(".lab-choice input") ? element.nextElementSibling : element;
      const { outlineStyle, outlineWidth } = getComputedStyle(drawn);
      return [element.outerHTML.slice(0, 90), outlineStyle !== "none" && parseFloat(outlineWidth) >= 2];
    });
    if (name.startsWith("<textarea")) editors++;
    if (!isSeen && !name.startsWith("<body")) unseen.add(name);
  }
  assert.deepEqual([...unseen], []);
  assert.equal(editors, 1);
  await close();
});

test("the loop is shown as it runs: three attempts, network errors, 429 and 5xx", async () => {
  const { page, close } = await site.open("", { apart: true });
  await page.getByText("The code of both").click();
  const shown = await page.locator(".lab-code pre").innerText();
  for (const part of ["fetch(url", "attempt === 3", "status === 429", "status >= 500", "catch (error)"]) {
    assert.ok(shown.includes(part), part);
  }
  await close();
});

test("a call that is wrong in itself is told apart from a failure", async () => {
  const { page, close } = await site.open("guide/retries.html", { apart: true });
  await page.getByText("The code of both").click();
  await page.locator(".lab textarea").fill("await client.nothing();");
  await page.getByRole("button", { name: "Run" }).click();
  await page.locator(".lab-word").first().getByText("client.nothing is not a function").waitFor();
  await close();
});

test("without JavaScript the recorded run stands there, without controls that do nothing", async () => {
  const { page, close } = await site.open("", { apart: true, javaScriptEnabled: false });
  assert.ok(await page.getByText("Stored twice.").isVisible());
  assert.ok(await page.getByText("Stored once. The error says: it may have run.").isVisible());
  assert.equal(await page.locator(".lab-choice:visible").count(), 0);
  await close();
});
