import { readFile } from "node:fs/promises";
import ts from "typescript";
import { callOptionTable, clientOptionTable } from "../../src/options/table.js";
import { code, type Page, prose, table } from "./markdown.js";

interface Documented {
  readonly meaning: string;
  readonly initial: string;
}

/** Every option of a client and of a call, with the first sentence of its docstring and its default. */
export async function optionsPart(): Promise<Page> {
  const texts = { ...(await documented("CallOptions")), ...(await documented("ClientOptions")) };
  const inCalls = Object.keys(callOptionTable);
  const clientOnly = Object.keys(clientOptionTable).filter((name) => !inCalls.includes(name));
  const parts = [
    ["Options of `createClient` alone:", clientOnly],
    ["Options of `createClient` and of each call (`signal` and `idempotent` only of a call):", inCalls],
  ] as const;
  const tables = parts.map(([title, names]) => `${title}\n\n${tableOf(names, texts)}`);
  return { path: "parts/options.md", text: tables.join("\n\n") };
}

function tableOf(names: readonly string[], texts: Readonly<Record<string, Documented>>): string {
  const rows = names.map((name) => {
    const found = texts[name];
    if (found === undefined) throw new Error(`src/options/types.ts does not describe ${name}.`);
    return [code(name), prose(found.meaning), prose(found.initial)];
  });
  return table(["Option", "Meaning", "Default"], rows);
}

/** What the docstrings of an interface in src/options/types.ts say of its members. */
async function documented(name: string): Promise<Record<string, Documented>> {
  const file = new URL("../../src/options/types.ts", import.meta.url);
  const source = ts.createSourceFile("types.ts", await readFile(file, "utf8"), ts.ScriptTarget.Latest, true);
  const found = source.statements.find(
    (node): node is ts.InterfaceDeclaration => ts.isInterfaceDeclaration(node) && node.name.text === name,
  );
  const members = found?.members ?? [];
  return Object.fromEntries(members.map((member) => [member.name?.getText(source) ?? "", saidOf(member)]));
}

function saidOf(member: ts.Node): Documented {
  const [doc] = ts.getJSDocCommentsAndTags(member).filter(ts.isJSDoc);
  const initial = ts.getJSDocTags(member).find(({ tagName }) => tagName.text === "default");
  const text = textOf(doc);
  const where = / Node only\.$/.exec(text)?.[0] ?? "";
  return { meaning: firstSentence(text) + where, initial: textOf(initial).replaceAll(/TUNERANK_\w+/g, code) };
}

const textOf = (node: ts.JSDoc | ts.JSDocTag | undefined): string =>
  (ts.getTextOfJSDocComment(node?.comment) ?? "").replaceAll(/\s+/g, " ").trim();

const firstSentence = (text: string): string => /^.*?[.!?](?= [A-Z]|$)/.exec(text)?.[0] ?? text;
