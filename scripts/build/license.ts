import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { libraries } from "./declarations.js";

/** The packages in node_modules that files come from, and those whose types are in the package, by name. */
export function packagesIn(files: readonly string[]): readonly string[] {
  const found = files.flatMap((file) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? []);
  return [...new Set([...found, ...libraries])].sort();
}

/** Writes below the text of LICENSE the names, versions and copyrights of what the package contains of others. */
export async function writeLicense(root: string, files: readonly string[]): Promise<void> {
  const own = path.join(root, "LICENSE");
  const [text = ""] = readFileSync(own, "utf8").split("\n---\n");
  const texts: string[] = [];
  const others = packagesIn(files).map((name) => {
    const folder = path.join(root, "node_modules", name);
    const { version, license } = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));
    const whole = readFileSync(path.join(folder, "LICENSE"), "utf8");
    if (license === "Apache-2.0") {
      texts.push(`\n---\n\n${whole}`);
      return `${name} ${version}: under the license ${license}, below\n`;
    }
    const [holder] = /^\s*(?:Copyright )?\(c\) .*$/im.exec(whole) ?? [];
    if (license !== "MIT" || holder === undefined)
      throw new Error(`${name} is not under the license MIT or Apache-2.0, or names no copyright.`);
    return `${name} ${version}: ${holder.trim()}\n`;
  });
  await writeFile(
    own,
    `${text}\n---\n\nThe published package contains parts of these, under the same license unless said otherwise:\n\n${others.join("")}${[...new Set(texts)].join("")}`,
  );
}
