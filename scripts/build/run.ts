// Writes dist/, all that the package ships besides its documents.
import { rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { type BuildOptions, build } from "esbuild";
import ts from "typescript";
import { commandLineBuild } from "./commandLine.js";
import { writeContract } from "./contract.js";

const root = fileURLToPath(new URL("../../", import.meta.url));
const shared: BuildOptions = {
  absWorkingDir: root,
  bundle: true,
  format: "esm",
  target: "es2022",
  platform: "neutral",
  external: ["node:*"],
  sourcemap: true,
  chunkNames: "chunks/[name]-[hash]",
  logLevel: "warning",
};

await rm(`${root}dist`, { recursive: true, force: true });
await writeContract(`${root}openapi.yaml`, `${root}dist`);
await writeLibrary();
await writeSubpaths();
await writeCommandLine();
writeDeclarations();

// Few files: on Node each one read at start costs about a millisecond.
async function writeLibrary(): Promise<void> {
  await build({
    ...shared,
    entryPoints: {
      index: "src/index.ts",
      "platform/node": "src/platform/node.ts",
      "platform/web": "src/platform/web.ts",
    },
    outdir: "dist",
    splitting: true,
    external: ["#platform", "node:*"],
  });
}

// The rest is built apart: what it shared with the library would be more files to read for everybody.
async function writeSubpaths(): Promise<void> {
  await build({
    ...shared,
    entryPoints: {
      "testing/index": "src/testing/index.ts",
      "adapters/aiSdk": "src/adapters/aiSdk.ts",
      "adapters/langchain": "src/adapters/langchain.ts",
    },
    outdir: "dist",
  });
}

async function writeCommandLine(): Promise<void> {
  await build({ ...commandLineBuild, absWorkingDir: root, outdir: "dist/cli" });
}

function writeDeclarations(): void {
  const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: fail };
  const config = ts.getParsedCommandLineOfConfigFile(`${root}scripts/build/tsconfig.json`, {}, host);
  if (config === undefined) throw new Error("scripts/build/tsconfig.json cannot be read.");
  const program = ts.createProgram(config.fileNames, config.options);
  const problems = [...ts.getPreEmitDiagnostics(program), ...program.emit().diagnostics];
  if (problems.length > 0) fail(...problems);
}

function fail(...diagnostics: ts.Diagnostic[]): never {
  const format = {
    getCanonicalFileName: (name: string) => name,
    getCurrentDirectory: () => root,
    getNewLine: () => "\n",
  };
  throw new Error(ts.formatDiagnostics(diagnostics, format));
}
