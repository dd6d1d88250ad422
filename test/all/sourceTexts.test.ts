// What the texts of the sources say to a reader, and that no code reads those of errors.
import path from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";
import { entries } from "../../scripts/build/entries.js";
import { proseRead } from "../../scripts/prose.js";
import { root } from "../support/project.js";

const config = ts.readConfigFile(path.join(root, "tsconfig.json"), ts.sys.readFile).config;
const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
const files = entries.map(({ source }) => path.join(root, "src", source));
const program = ts.createProgram(files, { ...options, types: [] });
const checker = program.getTypeChecker();

interface Member {
  /** As `Client.close`. */
  readonly name: string;
  readonly declaration: ts.Declaration;
}

// The members of openapi-typescript's own types are the contract's names, whose words its schemas have.
const ofContract = /\.(paths|components|operations)\./;
const members = files.flatMap(membersOf).filter(({ name }) => !ofContract.test(name));

function membersOf(file: string): Member[] {
  const source = program.getSourceFile(file);
  const module = source && checker.getSymbolAtLocation(source);
  if (module === undefined) throw new Error(`${file} is no module.`);
  return checker.getExportsOfModule(module).flatMap((exported) => {
    const isAlias = (exported.flags & ts.SymbolFlags.Alias) !== 0;
    const { declarations = [] } = isAlias ? checker.getAliasedSymbol(exported) : exported;
    return declarations.flatMap((declaration) => {
      const name = `${path.basename(file, ".ts")}.${exported.name}`;
      const body = ts.isTypeAliasDeclaration(declaration) ? declaration.type : declaration;
      const hasMembers =
        ts.isInterfaceDeclaration(body) || ts.isClassDeclaration(body) || ts.isTypeLiteralNode(body);
      const inner: ts.Declaration[] = hasMembers ? [...body.members].filter(isPublic) : [];
      return [declaration, ...inner].map((each) => {
        const own = each === declaration ? "" : `.${ts.getNameOfDeclaration(each)?.getText() ?? "()"}`;
        return { name: name + own, declaration: each };
      });
    });
  });
}

function isPublic(member: ts.ClassElement | ts.TypeElement): boolean {
  const isInternal = ts.getJSDocTags(member).some(({ tagName }) => tagName.text === "internal");
  // A symbol's name is hovered over with the symbol's own text.
  return !isInternal && !(member.name && /^[#[]/.test(member.name.getText()));
}

/** What an editor shows over a name: the docstring, with its tags. */
function aboutOf({ declaration }: Member): string {
  const symbol = checker.getSymbolAtLocation(ts.getNameOfDeclaration(declaration) ?? declaration);
  const tags = symbol?.getJsDocTags(checker) ?? [];
  return [symbol?.getDocumentationComment(checker), ...tags.map(({ text }) => text)]
    .map((parts) => ts.displayPartsToString(parts))
    .join("\n");
}

// What repeats the name says nothing.
function saysMore(about: string, name: string): boolean {
  const words = (text: string): string[] => text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  const own = new Set(words(name.replaceAll(/([a-z])([A-Z])/g, "$1 $2")));
  return words(about).some((word) => !own.has(word) && !/^(the|a|an|of|its?|this|is|to|for)$/.test(word));
}

const named = members.filter(({ declaration }) => {
  const name = ts.getNameOfDeclaration(declaration);
  return name !== undefined && ts.isIdentifier(name);
});

test("every exported name and member has a docstring that says more than its name", () => {
  expect(named.length).toBeGreaterThan(250);
  const silent = named.filter((each) => !saysMore(aboutOf(each), each.name.split(".").at(-1) ?? ""));
  expect(silent.map(({ name }) => name)).toEqual([]);
});

test("no docstring cites a document that users cannot have", () => {
  const citing = named.filter((each) =>
    /interface document|service-interface|section \d|§/i.test(aboutOf(each)),
  );
  expect(citing.map(({ name }) => name)).toEqual([]);
});

test("every function and method has a text, and each of its parameters", () => {
  const called = members.flatMap(({ name, declaration }) =>
    ts.isFunctionLike(declaration) && !ts.isIndexSignatureDeclaration(declaration)
      ? [{ name, signature: checker.getSignatureFromDeclaration(declaration) }]
      : [],
  );
  expect(called.length).toBeGreaterThan(25);
  const silent = called.flatMap(({ name, signature }) =>
    [
      { name, shown: signature },
      ...(signature?.parameters ?? []).map((each) => ({ name: `${name}: ${each.name}`, shown: each })),
    ]
      .filter(({ shown }) => ts.displayPartsToString(shown?.getDocumentationComment(checker)).trim() === "")
      .map((each) => each.name),
  );
  expect(silent).toEqual([]);
});

test("no code reads the text of an error to learn something: fields tell it", () => {
  const found = proseRead().filter((each) => !each.startsWith("src/cli/"));
  // Only the punctuation at its end.
  expect(found).toEqual(["src/platform/web.ts: error.message.replace"]);
}, 300_000);
