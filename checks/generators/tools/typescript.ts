import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Tool } from "../check/tool.js";
import { generators, newerNode, root, run, versions } from "../check/toolchains.js";

const packages = join(generators, "node_modules");
const options = {
  target: "es2022",
  module: "nodenext",
  lib: ["es2022", "dom", "dom.iterable"],
  typeRoots: [join(root, "node_modules/@types")],
  types: ["node"],
  strict: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: true,
  outDir: "out",
  rootDir: ".",
};

/** Compiles the TypeScript in a folder, with the packages of this one. */
export async function compileTypeScript(
  folder: string,
  others: Readonly<Record<string, string | boolean>> = {},
): Promise<void> {
  await symlink(packages, join(folder, "node_modules"));
  const type = others.module === "commonjs" ? "commonjs" : "module";
  await writeFile(join(folder, "package.json"), JSON.stringify({ type }));
  await writeFile(
    join(folder, "tsconfig.json"),
    JSON.stringify({ compilerOptions: { ...options, ...others }, exclude: ["out"] }),
  );
  const [node = "", tsc = ""] = packaged("tsc");
  await run(node, [tsc, "--project", "."], { cwd: folder });
}

/** The command that runs a program of an npm package. */
export function packaged(program: string): string[] {
  return [newerNode, join(packages, ".bin", program)];
}

// Without these versions npx takes the newest, and a TypeScript that the tool may not know.
const install = (...names: readonly string[]): string =>
  `npm install ${names.map((name) => `${name}@${versions[name as keyof typeof versions]}`).join(" ")} typescript@5.9`;

/** Runs the compiled caller. */
export function runCompiled(folder: string, env: Readonly<Record<string, string>>): Promise<string> {
  return run(newerNode, [join(folder, "out/call.js")], { env });
}

export const heyApi: Tool = {
  name: "@hey-api/openapi-ts",
  language: "TypeScript",
  version: versions["@hey-api/openapi-ts"],
  needs: ["Node 22 or newer"],
  documents: ["openapi-client.json", "openapi-client-3.0.json"],
  command: "npx @hey-api/openapi-ts -i openapi-client.json -o client",
  get: install("@hey-api/openapi-ts"),
  program: async () => packaged("openapi-ts"),
  compile: ({ folder }) => compileTypeScript(folder),
  call: ({ folder }, env) => runCompiled(folder, env),
};

export const openapiTypescript: Tool = {
  name: "openapi-typescript",
  language: "TypeScript",
  version: versions["openapi-typescript"],
  needs: ["Node 22 or newer"],
  documents: ["openapi-client.json", "openapi-client-3.0.json"],
  command: "npx openapi-typescript openapi-client.json -o client/schema.d.ts",
  get: install("openapi-typescript"),
  note: "called with openapi-fetch; the file's type is string, so the upload brings its own form",
  program: async () => packaged("openapi-typescript"),
  compile: ({ folder }) => compileTypeScript(folder),
  call: ({ folder }, env) => runCompiled(folder, env),
};

export const orval: Tool = {
  name: "orval",
  language: "TypeScript",
  version: versions.orval,
  needs: ["Node 22 or newer"],
  documents: ["openapi-client.json", "openapi-client-3.0.json"],
  command: "npx orval --input openapi-client.json --output client/client.ts",
  get: install("orval"),
  note: "called with axios, which gets the address and the key",
  program: async () => packaged("orval"),
  compile: ({ folder }) => compileTypeScript(folder),
  call: ({ folder }, env) => runCompiled(folder, env),
};

export const kubb: Tool = {
  name: "kubb",
  language: "TypeScript",
  version: versions["@kubb/cli"],
  needs: ["Node 22 or newer"],
  documents: ["openapi-client.json", "openapi-client-3.0.json"],
  command: "npx kubb generate openapi-client.json",
  get: install("@kubb/cli", "@kubb/core", "@kubb/plugin-client", "@kubb/plugin-oas", "@kubb/plugin-ts"),
  note: "wants the kubb.config.ts below; called with axios, which gets the address and the key; its files import each other by .ts names; ids are not encoded",
  program: async () => packaged("kubb"),
  compile: ({ folder }) => compileTypeScript(folder, { rewriteRelativeImportExtensions: true }),
  call: ({ folder }, env) => runCompiled(folder, env),
};

export const swaggerTypescriptApi: Tool = {
  name: "swagger-typescript-api",
  language: "TypeScript",
  version: versions["swagger-typescript-api"],
  needs: ["Node 22 or newer"],
  documents: ["openapi-client.json", "openapi-client-3.0.json"],
  command: "npx swagger-typescript-api generate --path openapi-client.json --output client",
  get: install("swagger-typescript-api"),
  note: 'reads :resume, :scale and :upload as parameters of the path, so each call passes its own, as ":scale"; ids are not encoded',
  program: async () => packaged("swagger-typescript-api"),
  compile: ({ folder }) => compileTypeScript(folder),
  call: ({ folder }, env) => runCompiled(folder, env),
};
