import { readFileSync } from "node:fs";
import path from "node:path";

// The types of what is bundled: users do not have these packages.
const libraries = ["openapi-fetch", "openapi-typescript-helpers"];

/** The declarations with those of bundled libraries among them, in dist/types, and ours referring to them there. */
export function withLibraryTypes(
  declarations: ReadonlyMap<string, string>,
  root: string,
  dist: string,
): Map<string, string> {
  const types = path.join(dist, "types");
  const all = new Map(declarations);
  for (const name of libraries) {
    const file = path.join(root, "node_modules", name, "dist/index.d.mts");
    all.set(path.join(types, `${name}.d.ts`), readFileSync(file, "utf8"));
  }
  for (const [file, text] of all) {
    const folder = path.relative(path.dirname(file), types).split(path.sep).join("/");
    all.set(file, pointTo(text, folder.startsWith(".") ? folder : `./${folder}`));
  }
  return all;
}

function pointTo(text: string, folder: string): string {
  return libraries.reduce(
    (all, name) => all.replaceAll(new RegExp(`from ["']${name}["']`, "g"), `from "${folder}/${name}.js"`),
    text,
  );
}
