// The quickstart, followed as the page shows it, in an empty folder, on each Node that is maintained.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { useSite } from "./visit.js";

const run = promisify(execFile);
const site = useSite();
const root = fileURLToPath(new URL("../../", import.meta.url));
const pageHost = "127.0.0.1:4010";
const programs = {
  [`Node ${process.versions.node}`]: path.dirname(process.execPath),
  "Node 22": fileURLToPath(new URL("node_modules/node-22/bin", import.meta.url)),
  "Node 24": fileURLToPath(new URL("node_modules/node-24/bin", import.meta.url)),
};

let folder;
let tarball;
let blocks;
let fileName;

before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "tunerank-quickstart-"));
  const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", folder];
  const { stdout } = await run("npm", args, { cwd: root });
  tarball = path.join(folder, JSON.parse(stdout)[0].filename);
  const { page, close } = await site.open("guide/quickstart.html");
  blocks = await page.locator(".vp-doc div[class*=language-] code").allInnerTexts();
  fileName = await page.getByRole("heading", { name: "Save this as" }).locator("code").innerText();
  await close();
});
after(() => rm(folder, { recursive: true, force: true }));

// Until the package is published, the tarball takes the place of its name; nothing else is changed.
const typed = (line) => line.trim().replace(/(npm install) tunerank$/, `$1 ${tarball}`);

// The port is one that is free, where the page says 4010: another program may listen there.
async function follow(directory, bin) {
  const env = { ...process.env, PATH: `${bin}${path.delimiter}${process.env.PATH}` };
  const [install, mock, listening, program, start, printed] = blocks;
  const inFolder = { cwd: directory, env, shell: true };
  await run(typed(install), inFolder);
  const service = spawn(`${typed(mock)} --port 0`, { ...inFolder, detached: true });
  try {
    const said = await new Promise((resolve, reject) => {
      let complaint = "";
      service.stderr.on("data", (data) => {
        complaint += data;
      });
      service.stdout.once("data", (data) => resolve(`${data}`));
      service.once("exit", () => reject(new Error(complaint)));
    });
    const [host = ""] = /127\.0\.0\.1:\d+/.exec(said) ?? [];
    assert.equal(said.trim().replace(host, pageHost), listening.trim());
    assert.ok(program.includes(pageHost));
    await writeFile(path.join(directory, fileName), program.replace(pageHost, host));
    const { stdout, stderr } = await run(typed(start), inFolder);
    assert.equal(stdout.trim(), printed.trim());
    assert.equal(stderr, "");
  } finally {
    const ended = service.exitCode === null && new Promise((resolve) => service.once("exit", resolve));
    if (ended) process.kill(-service.pid, "SIGTERM");
    await ended;
  }
}

describe("the quickstart prints what it shows", { concurrency: 2 }, () => {
  for (const [name, bin] of Object.entries(programs)) {
    const skip = existsSync(bin) ? false : `${name} could not be installed here`;
    test(`on ${name}, in an empty folder`, { skip }, async () =>
      follow(await mkdtemp(path.join(folder, "project-")), bin),
    );
  }
  test("after npm init -y", async () => {
    const directory = await mkdtemp(path.join(folder, "project-"));
    await run("npm init -y", { cwd: directory, shell: true });
    await follow(directory, path.dirname(process.execPath));
  });
});
