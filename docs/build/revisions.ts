import { cp, readdir, readFile, stat } from "node:fs/promises";
import path from "node:path";
import { compareRevisions } from "../../contract/breaking/changelog.js";
import { Contract } from "./contract.js";
import { code, type Page, table } from "./markdown.js";

const root = new URL("../../", import.meta.url).pathname;
const kept = path.join(root, "contract/revisions");

/** The revisions of the contract, the newest first: those that are kept, and its own. */
async function revisions(): Promise<string[]> {
  const { revision } = await Contract.read();
  return [...new Set([...(await readdir(kept)), revision])].sort(compareRevisions).reverse();
}

/** Where each revision is served. */
export async function revisionsPart(): Promise<Page> {
  const named = (await revisions()).map((revision) => [revision, revision]);
  const [[latest = ""] = []] = named;
  const rows = [["latest", latest], ...named].map(([place = "", revision = ""]) => {
    const folder = `/contract/${place}/`;
    // Without a target, VitePress adds ".html".
    const sums = `[SHA256SUMS](${folder}SHA256SUMS){target="_self"}`;
    return [code(revision), code(folder), `[openapi.yaml](${folder}openapi.yaml), ${sums}`];
  });
  return { path: "parts/revisions.md", text: table(["Revision", "Folder", "Files"], rows) };
}

/** Serves every revision below /contract/, and the newest as /contract/latest/. */
export async function publishRevisions(site: string): Promise<void> {
  const [latest = ""] = await revisions();
  const served = path.join(site, "contract");
  await cp(kept, served, { recursive: true });
  await cp(path.join(root, "dist/revisions"), served, { recursive: true });
  await stat(path.join(served, latest, "SHA256SUMS"));
  await cp(path.join(served, latest), path.join(served, "latest"), { recursive: true });
}

/** The versions of the package and of the contract. */
export async function versionsPart(contract: Contract): Promise<Page> {
  const text = await readFile(new URL("../../package.json", import.meta.url), "utf8");
  const { version, engines } = JSON.parse(text) as { version: string; engines: { node: string } };
  const final = await readdir(new URL("../../contract/revisions", import.meta.url));
  const state = final.includes(contract.revision)
    ? "final"
    : `a draft; final revisions: ${final.sort(compareRevisions).map(code).join(", ")}`;
  const rows = [
    ["the package `tunerank`", code(version), "[changes](/guide/changelog.md)"],
    [
      "the contract, `x-contract-revision`",
      `${code(contract.revision)}, ${state}`,
      "[changes](/guide/contract-changelog.md)",
    ],
    [
      "the service's API, `version` of the OpenAPI document",
      code(contract.version),
      "[the contract](#the-contract)",
    ],
    ["Node, as the package asks for it", code(engines.node), "[below](#node)"],
  ];
  return { path: "parts/versions.md", text: table(["What", "Version", "More"], rows) };
}
