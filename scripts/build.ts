// Writes dist/, all that the package ships besides its documents.
import { rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import ts from "typescript";
import { writeContract } from "./build/contract.js";

const root = fileURLToPath(new URL("../", import.meta.url));
await rm(`${root}dist`, { recursive: true, force: true });
await writeContract(`${root}openapi.yaml`, `${root}dist`);
await writeCode();
await writeTesting();
writeDeclarations();

// Few files: on Node each one read at start costs about a millisecond.
async function writeCode(): Promise<void> {
  await build({
    absWorkingDir: root,
    entryPoints: {
      index: "src/index.ts",
      cli: "src/cli/main.ts",
      "adapters/aiSdk": "src/adapters/aiSdk.ts",
      "adapters/langchain": "src/adapters/langchain.ts",
      "platform/node": "src/core/platform/node.ts",
      "platform/web": "src/core/platform/web.ts",
    },
    outdir: "dist",
    bundle: true,
    splitting: true,
    format: "esm",
    target: "es2022",
    platform: "neutral",
    external: ["#platform", "node:*"],
    inject: ["src/core/lightGlobals.ts"],
    chunkNames: "chunks/[name]-[hash]",
    sourcemap: true,
    logLevel: "warning",
  });
}

// Apart from the rest: what both hold would be one more file to read for everybody.
async function writeTesting(): Promise<void> {
  await build({
    absWorkingDir: root,
    entryPoints: { index: "src/testing/index.ts" },
    outdir: "dist/testing",
    bundle: true,
    format: "esm",
    target: "es2022",
    platform: "neutral",
    sourcemap: true,
    logLevel: "warning",
  });
}

function writeDeclarations(): void {
  const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: fail };
  const config = ts.getParsedCommandLineOfConfigFile(`${root}tsconfig.build.json`, {}, host);
  if (config === undefined) throw new Error("tsconfig.build.json cannot be read.");
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
