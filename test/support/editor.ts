import path from "node:path";
import ts from "typescript";
import { root } from "./project.js";

/** What an editor shows over a name. */
export interface Hover {
  readonly text: string;
  /** The docstring, with its tags. */
  readonly about: string;
}

/** What an editor shows inside the parentheses of a call. */
export interface Signature {
  readonly about: string;
  readonly parameters: readonly { readonly name: string; readonly about: string }[];
}

/** An editor with one new file at the top of the project. */
export interface Editor {
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
export function openEditor(source: string, folder: string = root): Editor {
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

function aboutOf(shown: Pick<ts.QuickInfo, "documentation" | "tags"> | undefined): string {
  const tags = shown?.tags?.map(({ name, text }) => `@${name} ${ts.displayPartsToString(text)}`) ?? [];
  return [ts.displayPartsToString(shown?.documentation), ...tags].join("\n");
}
