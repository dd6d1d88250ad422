// The declarations under every supported compiler: strict, nothing skipped, no library but the language's own.
import { execFile } from "node:child_process";
import { cpSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const versions = ["5.5", "5.9", "6.0", "7.0"];
const resolutions = { NodeNext: "NodeNext", ESNext: "Bundler" };

/** Checks the consumer with each compiler and each way to resolve modules. */
export async function checkTypes(user: string): Promise<string> {
  cpSync(fileURLToPath(new URL("consumer.ts", import.meta.url)), path.join(user, "consumer.ts"));
  for (const version of versions) {
    const compiler = fileURLToPath(new URL(`node_modules/typescript-${version}/bin/tsc`, import.meta.url));
    for (const [module, moduleResolution] of Object.entries(resolutions)) {
      const config = path.join(user, `tsconfig-${version}-${module}.json`);
      writeFileSync(config, JSON.stringify(configuration(module, moduleResolution)));
      await run(process.execPath, [compiler, "-p", config], { cwd: user }).catch(({ stdout, message }) => {
        throw new Error(`TypeScript ${version}, ${moduleResolution}:\n${stdout || message}`);
      });
    }
  }
  return `${versions.join(", ")}; ${Object.values(resolutions).join(" and ")}`;
}

function configuration(module: string, moduleResolution: string): object {
  return {
    compilerOptions: {
      module,
      moduleResolution,
      target: "es2022",
      lib: ["es2022"],
      types: [],
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      skipLibCheck: false,
      noEmit: true,
    },
    files: ["consumer.ts"],
  };
}
