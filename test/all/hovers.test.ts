import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { createInterface } from "node:readline";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { entries } from "../../scripts/build/entries.js";
import { installPackedPackage, type PackedPackage } from "../support/packedPackage.js";
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
  /** The names it offers at a place. */
  completions(position: number): string[];
  /** What is wrong with the new file. */
  problems(): unknown[];
}

const { options } = ts.parseJsonConfigFileContent(
  ts.readConfigFile(path.join(root, "tsconfig.json"), ts.sys.readFile).config,
  ts.sys,
  root,
);

const ofUsers = { module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2022, strict: true };

/** Opens it, by TypeScript's language service. @param folder Another project, with options of its own */
function openEditor(source: string, folder: string = root): Editor {
  const file = path.join(folder, "edited.ts");
  const service = ts.createLanguageService({
    // Node's types would take most of the time.
    getCompilationSettings: () => ({ ...(folder === root ? options : ofUsers), types: [] }),
    getCurrentDirectory: () => folder,
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
    completions: (position) =>
      service.getCompletionsAtPosition(file, position, undefined)?.entries.map(({ name }) => name) ?? [],
    problems: () =>
      [...service.getSyntacticDiagnostics(file), ...service.getSemanticDiagnostics(file)].map(
        ({ messageText }) => messageText,
      ),
  };
}

interface Definition {
  readonly file: string;
  readonly contextStart: { readonly line: number };
}

/** Where "go to definition" leads: asks the server that editors use, as only it reads declaration maps. */
async function definitionOf(line: string, offset: number, folder: string): Promise<Definition> {
  const file = path.join(folder, "edited.ts");
  const server = createRequire(import.meta.url).resolve("typescript/lib/tsserver.js");
  const child = spawn(process.execPath, [server, "--disableAutomaticTypingAcquisition"], { cwd: folder });
  const requests = [
    { command: "open", arguments: { file, fileContent: line } },
    { command: "definition", arguments: { file, line: 1, offset: offset + 1 } },
  ];
  for (const [seq, request] of requests.entries())
    child.stdin.write(`${JSON.stringify({ seq, type: "request", ...request })}\n`);
  for await (const text of createInterface({ input: child.stdout })) {
    const message = text.startsWith("{") ? JSON.parse(text) : {};
    if (message.type !== "response" || message.command !== "definition") continue;
    child.kill();
    return message.body[0];
  }
  throw new Error("The server ended.");
}

function aboutOf(shown: Pick<ts.QuickInfo, "documentation" | "tags"> | undefined): string {
  const tags = shown?.tags?.map(({ name, text }) => `@${name} ${ts.displayPartsToString(text)}`) ?? [];
  return [ts.displayPartsToString(shown?.documentation), ...tags].join("\n");
}

describe("of this repository", () => {
  // What somebody writes in an editor; /**/ stands where the pointer is.
  const source = `
import { createClient } from "./src/index.js";
const client = createClient();
const /*response*/response = await client.rerank({ query: "q", documents: ["d"], /*top_n*/top_n: 1 });
const results = response./*data*/data;
const [first] = results;
first?./*document*/document;
const job = await client.reinforcementFineTuningJobs.resume("job-1");
job./*state*/state;
job./*trainingConfig*/trainingConfig?./*lrScheduler*/lrScheduler?./*cosine*/cosine;
job./*acceleratorSeconds*/acceleratorSeconds;
job./*chunkSize*/chunkSize;
await client.rerank.items(/*items*/"q", ["a"], { text: (item) => item });
`;

  const editor = openEditor(source);

  function hoverOver(mark: string): Hover {
    return editor.hover(editor.file, source.indexOf(`/*${mark}*/`) + mark.length + 4);
  }

  describe("an editor shows, hovering over", () => {
    test.each([
      ["response", "const response: RerankResponse"],
      ["data", "(property) RerankResponse.data: RerankResult[]"],
      ["document", "(property) RerankResult.document?: string | undefined"],
      ["top_n", "(property) RerankRequest.top_n?: number | undefined"],
      ["state", "(property) ReinforcementFineTuningJob.state?: JobState | (string & {}) | undefined"],
      [
        "trainingConfig",
        "(property) ReinforcementFineTuningJob.trainingConfig?: BaseTrainingConfig | undefined",
      ],
      ["lrScheduler", "(property) BaseTrainingConfig.lrScheduler?: LearningRateScheduler | undefined"],
      ["cosine", "(property) LearningRateScheduler.cosine?: CosineSchedule | undefined"],
      [
        "acceleratorSeconds",
        "(property) ReinforcementFineTuningJob.acceleratorSeconds?: AcceleratorSeconds | undefined",
      ],
    ])("%s: its named type", (mark, text) => {
      expect(hoverOver(mark).text).toBe(text);
    });

    test("a field: the contract's words about it", () => {
      expect(hoverOver("chunkSize").about).toBe(
        "Data chunking for rollout. Enabled when the dataset has more than 300 rows. The valid range is 1 to 10,000.\n" +
          "Range: at least 1, at most 10000.\nFormat: int32\n@default 200",
      );
      expect(hoverOver("state").about).toBe(
        "What the job is doing. The order of states is not documented; a newer service may send others.\nRead-only.",
      );
      expect(hoverOver("top_n").about).toBe(
        "The number of most relevant documents to return. All documents when unset.\nRange: at least 1.\nFormat: int64\n@example 3",
      );
    });
  });

  test("an editor shows, as rerank.items is called, its text, an example and its parameters", () => {
    const shown = editor.signature(source.indexOf("items(/*items*/") + "items(".length);
    expect(shown?.about).toMatch(/^Ranks items of any type by a text of each\. /);
    expect(shown?.about).toContain("@example const best = await client.rerank.items(");
    expect(shown?.parameters.map(({ name }) => name)).toEqual(["query", "items", "options"]);
    expect(shown?.parameters[1]?.about).toBe("The items to rank, of any type.");
  });

  test("the hovered source has no errors", () => {
    expect(editor.problems()).toEqual([]);
  });
});

describe("of the packed package", () => {
  // An editor with the packed package: what it shows is read from the declarations that users get.
  let packed: PackedPackage;

  beforeAll(async () => {
    packed = await installPackedPackage();
  });
  afterAll(() => packed?.remove());

  const entries = ["tunerank", "tunerank/bulk", "tunerank/testing", "tunerank/ai-sdk", "tunerank/langchain"];

  test.each(entries)("every public name of %s is completed, and its hover says what it is", (entry) => {
    const source = `import * as all from "${entry}";\nimport {  } from "${entry}";\nall;\n`;
    const editor = openEditor(source, packed.user);
    const module = editor.program.getTypeChecker();
    const file = editor.program.getSourceFile(editor.file) as ts.SourceFile;
    const [imported] = file.statements as unknown as ts.ImportDeclaration[];
    const symbol = module.getSymbolAtLocation(
      (imported as ts.ImportDeclaration).moduleSpecifier,
    ) as ts.Symbol;
    const names = module.getExportsOfModule(symbol).map(({ name }) => name);
    expect(names.length).toBeGreaterThan(0);
    expect(editor.completions(source.indexOf("{  }") + 2)).toEqual(expect.arrayContaining(names));
    const using = `import { ${names.map((name) => `type ${name}`).join(", ")} } from "${entry}";\n`;
    const hovering = openEditor(using, packed.user);
    for (const name of names) {
      const { text, about } = hovering.hover(hovering.file, using.indexOf(`type ${name}`) + 5);
      expect(text, name).toContain(name);
      expect(about, name).toMatch(/^\w/);
    }
  });

  test.each([
    ["tunerank", "createClient", "src/client.ts", "export function createClient("],
    ["tunerank", "StatusError", "src/errors/statusError.ts", "export class StatusError "],
    ["tunerank/bulk", "rerankAll", "src/bulk/index.ts", "export function rerankAll"],
  ])("the definition of %s's %s is its code", async (entry, name, source, code) => {
    const using = `import { ${name} } from "${entry}";`;
    const found = await definitionOf(using, using.indexOf(name) + 1, packed.user);
    expect(found.file).toBe(path.join(packed.installed, "dist", source));
    const lines = readFileSync(found.file, "utf8").split("\n");
    expect(lines[found.contextStart.line - 1]).toContain(code);
  });

  test("a wrong field's name is in the type error", () => {
    const source = `import { createClient } from "tunerank";
    const client = createClient({ apikey: "k" });
    client.rerank({ query: "q", documents: ["d"], topN: 1 });
    client.deployments.scale({ id: "prod", replicas: 1 });
    client.datasets.upload("d", "f", { onprogress() {} });`;
    const problems = openEditor(source, packed.user)
      .problems()
      .map((problem) => JSON.stringify(problem));
    expect(problems).toHaveLength(4);
    for (const [index, name] of ["apikey", "topN", "2-3 arguments", "onprogress"].entries()) {
      expect(problems[index]).toContain(name);
    }
  });
});

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
