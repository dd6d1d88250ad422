// Writes the client's methods for the operations that no file of src/wrappers names.
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import type { Document } from "./document.js";
import { idsOf, importsOf, interfaceName, interfaceOf, methodOf, namesOf, tagOf } from "./methodTypes.js";
import type { OperationShape } from "./operations.js";

/** The public types of the methods, and what gives them to a client: files below src/wrappers. */
const [typesFile, codeFile] = ["contractMethods.ts", "contractClient.ts"];

/** Writes both files, by name. @param wrappers The folder src/wrappers */
export async function generateMethods(
  document: Document,
  operations: readonly OperationShape[],
  wrappers: string,
): Promise<Readonly<Record<string, string>>> {
  const wrapped = await wrappedBy(operations, wrappers);
  const groups = new Map<string, OperationShape[]>();
  const isWritten = new Set<string>();
  for (const shape of operations) {
    const [group] = namesOf(shape);
    const methods = groups.get(group) ?? [];
    groups.set(group, methods);
    if (wrapped.has(shape.id)) isWritten.add(group);
    else methods.push(shape);
  }
  const own = operations.filter(({ id }) => !wrapped.has(id));
  const interfaces = [...groups]
    .filter(([group]) => group !== "")
    .map(([group, shapes]) => interfaceOf(document, group, shapes));
  const roots = (groups.get("") ?? []).map((shape) => methodOf(document, shape));
  const fresh = [...groups.keys()].filter((group) => group !== "" && !isWritten.has(group));
  const members = fresh.map(
    (group) =>
      `  /** ${tagOf(document, groups.get(group) ?? [])} */\n  readonly ${group}: ${interfaceName(group)};`,
  );
  const typed = [...isWritten]
    .filter((group) => group !== "")
    .map((group) => `  readonly ${group}: ${interfaceName(group)};`);
  const types = [
    importsOf(document, own),
    ...interfaces,
    `/** What the contract adds to a client besides what is written by hand. */\nexport interface ContractClient {\n${[...roots, ...members].join("\n")}\n}\n`,
  ];
  const written = [...isWritten].filter((group) => group !== "").map(interfaceName);
  const code = [
    own.length === 0 ? "" : codeImports,
    `import type { ${["ContractClient", ...written].join(", ")} } from "./contractMethods.js";\n\n`,
    `/** All that the contract adds, by group. */\nexport interface ContractMethods extends ContractClient {\n${typed.join("\n")}\n}\n\n`,
    own.length === 0 ? noMethods : additionsOf(groups, isWritten),
  ];
  return { [typesFile as string]: types.join("\n"), [codeFile as string]: code.join("") };
}

const codeImports = `import type { ClientConfig } from "../call/settings.js";
import type { CallOptions } from "../options/types.js";
import { startCall } from "./invoke.js";
import { callOperation } from "./operationMethods.js";
`;

// A wrapper names its operation.
async function wrappedBy(operations: readonly OperationShape[], wrappers: string): Promise<Set<string>> {
  const files = (await readdir(wrappers, { recursive: true })).filter(
    (file) => file.endsWith(".ts") && file !== typesFile && file !== codeFile,
  );
  const texts = await Promise.all(files.map((file) => readFile(path.join(wrappers, file), "utf8")));
  const ids = operations.map(({ id }) => id);
  return new Set(ids.filter((id) => texts.some((text) => text.includes(`"${id}"`))));
}

function additionsOf(
  groups: ReadonlyMap<string, readonly OperationShape[]>,
  isWritten: ReadonlySet<string>,
): string {
  const additions = [...groups]
    .filter(([, shapes]) => shapes.length > 0)
    .map(([group, shapes]) => {
      const owner = group === "" ? "client" : isWritten.has(group) ? `client.${group}` : undefined;
      const calls = `{\n${shapes.map(callOf).join("")}  }`;
      return owner
        ? `  Object.assign(${owner}, ${calls});\n`
        : `  Object.assign(client, { ${group}: ${calls} });\n`;
    });
  const written = [...isWritten].filter((group) => group !== "").map((group) => `${group}: object`);
  return (
    "/** @internal Gives a client the methods that the contract has and nobody wrote. */\n" +
    `export function addMethods<T extends { ${written.join("; ")} }>(client: T, settings: ClientConfig): T & ContractMethods {\n` +
    `${additions.join("")}  return client as T & ContractMethods;\n}\n`
  );
}

function callOf(shape: OperationShape): string {
  const { id, parameters, body } = shape;
  const ids = idsOf(parameters.path).map(({ name }) => name);
  const hasParameters = parameters.query.length + parameters.header.length > 0;
  const others = [body && "body", hasParameters && "parameters"].filter((name) => typeof name === "string");
  const given = [
    ...[...ids, ...others].map((name) => `${name}: ${name === "parameters" ? "object" : "unknown"}`),
    "options?: CallOptions",
  ];
  const input = [`operation: "${id}"`, `ids: { ${ids.join(", ")} }`, ...others].join(", ");
  return (
    `    ${namesOf(shape)[1]}: (${given.join(", ")}) =>\n` +
    `      startCall("${id}", settings, () => callOperation(settings, { ${input} }, options)),\n`
  );
}

const noMethods = `/** @internal Gives a client the methods that the contract has and nobody wrote: there are none. */
export function addMethods<T>(client: T, _settings: unknown): T & ContractMethods {
  return client as T & ContractMethods;
}
`;
