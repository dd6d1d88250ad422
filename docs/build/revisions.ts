import { cp, readdir, stat } from "node:fs/promises";
import path from "node:path";
import { compareRevisions } from "../../contract/breaking/revision.js";
import { code, type Page, table } from "./markdown.js";

const kept = new URL("../../contract/revisions/", import.meta.url).pathname;

/** The revisions of the contract that are kept, the newest first. */
async function revisions(): Promise<string[]> {
  const names = await readdir(kept);
  return names.sort(compareRevisions).reverse();
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
  await stat(path.join(kept, latest, "SHA256SUMS"));
  await cp(kept, path.join(site, "contract"), { recursive: true });
  await cp(path.join(kept, latest), path.join(site, "contract/latest"), { recursive: true });
}
