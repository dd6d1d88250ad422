// The style of the site without the rules that none of its pages can use: the theme brings those of its other layouts.
import { createHash } from "node:crypto";
import { readdir, readFile, rename, writeFile } from "node:fs/promises";
import path from "node:path";

/** Takes the rules out whose classes no page and no script of the site names. */
export async function lightenStyle(site: string): Promise<void> {
  const files = (await readdir(site, { recursive: true })).filter((file) => /\.(html|js)$/.test(file));
  const words = new Set<string>();
  const texts = new Map<string, string>();
  for (const file of files) {
    const text = await readFile(path.join(site, file), "utf8");
    texts.set(file, text);
    for (const [word] of text.matchAll(/[A-Za-z_][\w-]*/g)) words.add(word);
  }
  const assets = path.join(site, "assets");
  const name = (await readdir(assets)).find((file) => /^style\..*\.css$/.test(file));
  if (name === undefined) throw new Error("The site has no style.");
  const rules = usedRules(await readFile(path.join(assets, name), "utf8"), words);
  const light = usedVariables(rules, [...texts.values()].join("\n"));
  // Its name is of what it says: a host may keep a name for ever.
  const named = `style.${createHash("sha256").update(light).digest("base64url").slice(0, 8)}.css`;
  await writeFile(path.join(assets, name), light);
  await rename(path.join(assets, name), path.join(assets, named));
  for (const [file, text] of texts) {
    if (text.includes(name)) await writeFile(path.join(site, file), text.replaceAll(name, named));
  }
}

// Of the theme's hundreds of variables few are read; one that is may read others.
function usedVariables(style: string, texts: string): string {
  const read = new Set([...`${style}${texts}`.matchAll(/var\((--[\w-]+)/g)].map(([, name]) => name));
  const light = style.replaceAll(/(--vp-[\w-]+):[^;{}]*;?/g, (rule, name) => (read.has(name) ? rule : ""));
  return light === style ? light : usedVariables(light, texts);
}

/** The rules of a style that can apply where only these words are names of classes. */
export function usedRules(style: string, words: ReadonlySet<string>): string {
  let used = "";
  for (let at = 0; at < style.length; ) {
    const open = style.indexOf("{", at);
    if (open < 0) return used + style.slice(at);
    const end = closing(style, open);
    const [before, body] = [style.slice(at, open), style.slice(open + 1, end)];
    at = end + 1;
    if (/^\s*@(media|container|supports)/.test(before)) {
      const inner = usedRules(body, words);
      if (inner !== "") used += `${before}{${inner}}`;
    } else if (before.trimStart().startsWith("@")) {
      used += `${before}{${body}}`;
    } else {
      const selectors = before.split(/,(?![^(]*\))/).filter((selector) => isUsed(selector, words));
      if (selectors.length > 0) used += `${selectors.join(",")}{${body}}`;
    }
  }
  return used;
}

function closing(style: string, open: number): number {
  for (let at = open, depth = 0; at < style.length; at++) {
    if (style[at] === "{") depth++;
    else if (style[at] === "}" && --depth === 0) return at;
  }
  throw new Error("A rule of the style has no end.");
}

// What a selector excludes or offers to choose from need not be there.
function isUsed(selector: string, words: ReadonlySet<string>): boolean {
  const asked = selector.replaceAll(/:(not|is|where)\([^)]*\)/g, "");
  return [...asked.matchAll(/\.([A-Za-z_][\w-]*)/g)].every(([, name = ""]) => words.has(name));
}
