// The declarations under every supported compiler: strict, nothing skipped, no library but the language's own.
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { inPairs, runNode, tool } from "./tool.js";

interface Compiler {
  readonly folder: string;
  readonly version: number;
}

const compilers: readonly Compiler[] = [
  { folder: "typescript-5.2", version: 5.2 },
  { folder: "typescript-5.4", version: 5.4 },
  { folder: "typescript-5.7", version: 5.7 },
  { folder: "typescript", version: 5.9 },
  { folder: "typescript-6.0", version: 6 },
  { folder: "typescript-7.0", version: 7 },
];

/** `module` and `moduleResolution` as users set them, and the versions that have them. */
const resolutions = [
  { module: "commonjs", moduleResolution: "node10", until: 6 },
  { module: "node16", moduleResolution: "node16" },
  { module: "node18", moduleResolution: "node16", from: 5.8 },
  { module: "nodenext", moduleResolution: "nodenext" },
  { module: "esnext", moduleResolution: "bundler" },
] as const;

interface Cell {
  readonly compiler: Compiler;
  readonly module: string;
  readonly moduleResolution: string;
  readonly type: string;
}

/** Checks the consumer with each compiler, each way to resolve modules, and in both types of package. */
export async function checkTypes(user: string, all: boolean): Promise<string> {
  for (const type of ["module", "commonjs"]) writeProject(path.join(user, `types-${type}`), type);
  const cells = everyCell().filter(({ compiler: { version } }) => all || version === 5.2 || version >= 7);
  const failed: string[] = [];
  await inPairs(cells, async (cell) => {
    await check(user, cell).catch((error: Error) => failed.push(`${nameOf(cell)}:\n${error.message}`));
  });
  if (failed.length > 0) throw new Error(failed.join("\n"));
  const versions = [...new Set(cells.map(({ compiler }) => compiler.version.toFixed(1)))];
  const modules = resolutions.map(({ module, moduleResolution }) => `${module}/${moduleResolution}`);
  return `TypeScript ${versions.join(", ")}; ${modules.join(", ")}; in ESM and in CommonJS packages: ${cells.length} combinations`;
}

function everyCell(): Cell[] {
  return compilers.flatMap((compiler) =>
    resolutions
      .filter((each) => !("from" in each && compiler.version < each.from))
      .filter((each) => !("until" in each && compiler.version > each.until))
      .flatMap(({ module, moduleResolution }) =>
        ["module", "commonjs"].map((type) => ({ compiler, module, moduleResolution, type })),
      ),
  );
}

/** What each consumer needs besides the language's own library, and since when its types are understood. */
const consumers = {
  consumer: { libraries: [], from: 5.2 },
  // openapi-fetch's own types have those of `fetch`, and are wrong to TypeScript 5.2.
  openapiConsumer: { libraries: ["dom", "dom.iterable"], from: 5.4 },
};

function writeProject(folder: string, type: string): void {
  mkdirSync(folder);
  for (const name of Object.keys(consumers)) {
    cpSync(fileURLToPath(new URL(`${name}.ts`, import.meta.url)), path.join(folder, `${name}.ts`));
  }
  writeFileSync(path.join(folder, "package.json"), JSON.stringify({ type }));
}

async function check(user: string, { compiler, module, moduleResolution, type }: Cell): Promise<void> {
  const compilerOptions = {
    module,
    moduleResolution,
    target: "es2022",
    types: [],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    noEmit: true,
    // For node10, the last version that has it.
    ...(compiler.version === 6 ? { ignoreDeprecations: "6.0" } : {}),
  };
  for (const [name, { libraries, from }] of Object.entries(consumers)) {
    if (compiler.version < from) continue;
    const config = path.join(user, `types-${type}`, `tsconfig-${compiler.folder}-${module}-${name}.json`);
    const options = { ...compilerOptions, lib: ["es2022", ...libraries] };
    writeFileSync(config, JSON.stringify({ compilerOptions: options, files: [`${name}.ts`] }));
    await runNode([tool(`${compiler.folder}/bin/tsc`), "-p", config], user);
  }
}

function nameOf({ compiler, module, moduleResolution, type }: Cell): string {
  return `TypeScript ${compiler.version}, ${module}/${moduleResolution}, type ${type}`;
}
