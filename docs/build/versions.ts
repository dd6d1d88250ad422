import { readdir, readFile } from "node:fs/promises";
import { compareRevisions } from "../../contract/breaking/revision.js";
import type { Contract } from "./contract.js";
import { code, type Page, table } from "./markdown.js";

/** The versions of the package and of the contract. */
export async function versionsPart(contract: Contract): Promise<Page> {
  const text = await readFile(new URL("../../package.json", import.meta.url), "utf8");
  const { version, engines } = JSON.parse(text) as { version: string; engines: { node: string } };
  const final = await readdir(new URL("../../contract/revisions", import.meta.url));
  const state = final.includes(contract.revision)
    ? "final"
    : `a draft; the final ones are ${final.sort(compareRevisions).map(code).join(", ")}`;
  const rows = [
    ["the package `tunerank`", code(version), "[changes](/guide/changelog.md)"],
    [
      "the contract, `x-contract-revision`",
      `${code(contract.revision)}, ${state}`,
      "[changes](/guide/contract-changelog.md)",
    ],
    ["the service's management API, `version`", code(contract.version), "[the contract](#the-contract)"],
    ["Node, as the package asks for it", code(engines.node), "[below](#node)"],
  ];
  return { path: "parts/versions.md", text: table(["What", "Version", "More"], rows) };
}
