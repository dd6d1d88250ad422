import path from "node:path";
import ts from "typescript";
import { describe, expect, test } from "vitest";
import { entries } from "../../scripts/build/entries.js";
import { root } from "../support/project.js";

/** What an editor shows over a name. */
interface Hover {
  readonly text: string;
  /** The docstring, with its tags. */
  readonly about: string;
}

/** What an editor shows inside the parentheses of a call. */
interface Signature {
  readonly about: string;
  readonly parameters: readonly { readonly name: string; readonly about: string }[];
}

/** An editor with one new file at the top of the project. */
interface Editor {
  readonly file: string;
  readonly program: ts.Program;
  hover(file: string, position: number): Hover;
  signature(position: number): Signature | undefined;
}

const { options } = ts.parseJsonConfigFileContent(
  ts.readConfigFile(path.join(root, "tsconfig.json"), ts.sys.readFile).config,
  ts.sys,
  root,
);

/** Opens it, by TypeScript's language service. */
function openEditor(source: string): Editor {
  const file = path.join(root, "edited.ts");
  const service = ts.createLanguageService({
    // Node's types would take most of the time.
    getCompilationSettings: () => ({ ...options, types: [] }),
    getCurrentDirectory: () => root,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    getScriptFileNames: () => [file],
    getScriptVersion: () => "1",
    getScriptSnapshot: (name) => {
      const text = name === file ? source : ts.sys.readFile(name);
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
    },
    fileExists: (name) => name === file || ts.sys.fileExists(name),
    readFile: ts.sys.readFile,
    readDirectory: ts.sys.readDirectory,
    directoryExists: ts.sys.directoryExists,
    getDirectories: ts.sys.getDirectories,
  });
  return {
    file,
    program: service.getProgram() as ts.Program,
    hover(where, position) {
      const found = service.getQuickInfoAtPosition(where, position);
      return { text: ts.displayPartsToString(found?.displayParts), about: aboutOf(found) };
    },
    signature(position) {
      const found = service.getSignatureHelpItems(file, position, undefined);
      const item = found?.items[found.selectedItemIndex];
      if (item === undefined) return undefined;
      const parameters = item.parameters.map(({ name, documentation }) => ({
        name,
        about: ts.displayPartsToString(documentation),
      }));
      return { about: aboutOf(item), parameters };
    },
  };
}

function aboutOf(shown: Pick<ts.QuickInfo, "documentation" | "tags"> | undefined): string {
  const tags = shown?.tags?.map(({ name, text }) => `@${name} ${ts.displayPartsToString(text)}`) ?? [];
  return [ts.displayPartsToString(shown?.documentation), ...tags].join("\n");
}

describe("of every export", () => {
  interface Member {
    /** As `Client.close`. */
    readonly name: string;
    /** The name, or the whole signature where there is none. */
    readonly node: ts.Node;
    /** How it is called, up to the parenthesis; undefined when it is no function. */
    readonly call: string | undefined;
  }

  const imports = entries
    .map(({ source }, index) => `import * as e${index} from "./src/${source}";\n`)
    .join("");
  const editor = openEditor(imports.replaceAll('.ts";', '.js";'));
  const checker = editor.program.getTypeChecker();
  // The members of openapi-typescript's own types are the contract's names, whose words its schemas have.
  const ofContract = /\.(paths|components|operations)\./;
  const members = entries
    .flatMap(({ source }, index) => membersOf(`src/${source}`, `e${index}`))
    .filter(({ name }) => !ofContract.test(name));
  const named = members.filter(({ node }) => ts.isIdentifier(node));
  const called = members.filter(({ call }) => call !== undefined);

  function membersOf(entry: string, namespace: string): Member[] {
    const file = editor.program.getSourceFiles().find(({ fileName }) => fileName.endsWith(entry));
    const module = file && checker.getSymbolAtLocation(file);
    if (module === undefined) throw new Error(`${entry} is no module.`);
    return checker.getExportsOfModule(module).flatMap((exported) => {
      const isAlias = (exported.flags & ts.SymbolFlags.Alias) !== 0;
      const { declarations = [] } = isAlias ? checker.getAliasedSymbol(exported) : exported;
      return declarations.flatMap((declaration) => declared(declaration, `${namespace}.${exported.name}`));
    });
  }

  function declared(declaration: ts.Declaration, name: string): Member[] {
    const node = ts.getNameOfDeclaration(declaration);
    if (node === undefined) return [];
    const call = ts.isFunctionDeclaration(declaration) ? `${name}(` : undefined;
    const body = ts.isTypeAliasDeclaration(declaration) ? declaration.type : declaration;
    const hasMembers =
      ts.isInterfaceDeclaration(body) || ts.isClassDeclaration(body) || ts.isTypeLiteralNode(body);
    const inner = hasMembers ? [...body.members].filter(isPublic) : [];
    const { typeParameters = [] } = declaration as ts.InterfaceDeclaration;
    const given = typeParameters.length === 0 ? "" : `<${typeParameters.map(() => "any").join()}>`;
    const value = `(undefined as unknown as ${name}${given})`;
    return [{ name, node, call }, ...inner.flatMap((member) => ofMember(member, name, value))];
  }

  function isPublic(member: ts.Node): boolean {
    const isInternal = ts.getJSDocTags(member).some(({ tagName }) => tagName.text === "internal");
    return !isInternal && !(ts.isClassElement(member) && member.name && ts.isPrivateIdentifier(member.name));
  }

  function ofMember(member: ts.TypeElement | ts.ClassElement, owner: string, value: string): Member[] {
    if (ts.isCallSignatureDeclaration(member))
      return [{ name: `${owner}()`, node: member, call: `${value}(` }];
    if (ts.isConstructorDeclaration(member))
      return [{ name: `new ${owner}()`, node: member, call: `new ${owner}(` }];
    // A symbol's name is hovered over with the symbol's own text.
    if (member.name === undefined || ts.isComputedPropertyName(member.name)) return [];
    const isMethod = ts.isMethodSignature(member) || ts.isMethodDeclaration(member);
    const name = member.name.getText();
    return [
      { name: `${owner}.${name}`, node: member.name, call: isMethod ? `${value}.${name}(` : undefined },
    ];
  }

  // What repeats the name says nothing.
  function saysMore(about: string, name: string): boolean {
    const words = (text: string): string[] => text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
    const own = new Set(words(name.replaceAll(/([a-z])([A-Z])/g, "$1 $2")));
    return words(about).some((word) => !own.has(word) && !/^(the|a|an|of|its?|this|is|to|for)$/.test(word));
  }

  test("every exported name and member has a docstring that says more than its name", () => {
    expect(named.length).toBeGreaterThan(250);
    const silent = named.filter(({ name, node }) => {
      const { about } = editor.hover(node.getSourceFile().fileName, node.getStart());
      return !saysMore(about, name.split(".").at(-1) as string);
    });
    expect(silent.map(({ name }) => name)).toEqual([]);
  });

  test("no docstring cites a document that users cannot have", () => {
    const citing = named.filter(({ node }) => {
      const { about } = editor.hover(node.getSourceFile().fileName, node.getStart());
      return /interface document|service-interface|section \d|§/i.test(about);
    });
    expect(citing.map(({ name }) => name)).toEqual([]);
  });

  test("every function and method shows, as it is called, its text and that of each parameter", () => {
    expect(called.length).toBeGreaterThan(25);
    const source = `${imports.replaceAll('.ts";', '.js";')}${called.map(({ call }) => `${call});\n`).join("")}`;
    const calls = openEditor(source);
    let position = imports.length;
    const silent = called.flatMap(({ name, call = "" }) => {
      const shown = calls.signature(position + call.length);
      position += `${call});\n`.length;
      if (shown === undefined || shown.about.trim() === "") return [name];
      return shown.parameters
        .filter(({ about }) => about === "")
        .map((parameter) => `${name}: ${parameter.name}`);
    });
    expect(silent).toEqual([]);
  });
});
