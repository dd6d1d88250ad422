// Writes dist/, all that the package ships besides its documents.
import { rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const root = fileURLToPath(new URL("../", import.meta.url));
await rm(`${root}dist`, { recursive: true, force: true });
const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: fail };
const config = ts.getParsedCommandLineOfConfigFile(`${root}tsconfig.build.json`, {}, host);
if (config === undefined) throw new Error("tsconfig.build.json cannot be read.");
const program = ts.createProgram(config.fileNames, config.options);
const problems = [...ts.getPreEmitDiagnostics(program), ...program.emit().diagnostics];
if (problems.length > 0) fail(...problems);

function fail(...diagnostics: ts.Diagnostic[]): never {
  const format = {
    getCanonicalFileName: (name: string) => name,
    getCurrentDirectory: () => root,
    getNewLine: () => "\n",
  };
  throw new Error(ts.formatDiagnostics(diagnostics, format));
}
