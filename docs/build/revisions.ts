import { cp, readdir, stat } from "node:fs/promises";
import path from "node:path";
import { compareRevisions } from "../../contract/breaking/revision.js";
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
