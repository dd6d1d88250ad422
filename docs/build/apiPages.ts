// What TypeDoc writes of an entry, as a page to read: functions with their signatures, types folded to a line each.

const folded = ["Classes", "Interfaces", "Type Aliases"];

/** Where the contract's own shapes have their fields and values, by name: a page of the site. */
export type Shapes = ReadonlyMap<string, string>;

/** One page of TypeDoc's Markdown in the form of the site. */
export function apiPage(text: string, shapes: Shapes): string {
  const [intro = "", ...groups] = withoutRepetition(text).split(/^## /m);
  const functions = groups.filter((group) => !folded.includes(titleOf(group)));
  const types = groups.filter((group) => folded.includes(titleOf(group)));
  const parts = [intro.trim(), ...functions.map((group) => `## ${group.trim()}`)];
  if (types.length > 0) parts.push("## Types", ...types.flatMap(membersOf).map((member) => foldedType(member, shapes)));
  const [, words = ""] = intro.split("\n\n");
  return `---\ndescription: ${JSON.stringify(inOneLine(words))}\npageClass: api\n---\n\n${parts.join("\n\n")}\n`;
}

/** The list of the entries: what each is for. */
export function apiIndex(entries: readonly { readonly name: string; readonly text: string }[]): string {
  const rows = entries.map(({ name, text }) => {
    const [, words = ""] = text.split(/\n\n/);
    return `| [\`${name}\`](/api/${name}.md) | ${inOneLine(words)} |`;
  });
  return [
    '---\ntitle: The TypeScript API\ndescription: "Every function, option and type of the package, a page for each entry."\n---\n',
    "# The TypeScript API\n",
    "One page for each entry of the package: its functions with their signatures, and its types, each of which unfolds.\n",
    "| Import from | What it is |\n| --- | --- |",
    ...rows,
    "",
    "`tunerank/browser` has the exports of `tunerank` in one file, for [pages without a bundler](/guide/runtimes.md#pages-without-a-bundler).\n",
  ].join("\n");
}

function titleOf(group: string): string {
  return group.slice(0, group.indexOf("\n"));
}

function membersOf(group: string): string[] {
  return group.split(/^### /m).slice(1);
}

// The contract's types by path, which openapi-typescript wrote: the HTTP reference tells the same.
const generated: Readonly<Record<string, string>> = {
  paths: "The contract by path and method, as openapi-typescript writes it.",
  components: "The contract's schemas, parameters and answers, as openapi-typescript writes them.",
  operations: "The contract's operations by their ids, as openapi-typescript writes them.",
};

// The name and the first sentence stay; the rest unfolds.
function foldedType(member: string, shapes: Shapes): string {
  const name = titleOf(member);
  const own = generated[name];
  const whole = own === undefined ? member.slice(name.length).trim() : reading(own);
  const shape = shapes.get(name);
  const body = shape === undefined ? whole : `${whole.split("\n\n")[0]} It has all that [${name}](${shape}) has in the HTTP reference.`;
  const prose = body.replaceAll(/^```.*?^```$/gms, "").trim();
  const [paragraph = ""] = prose.split("\n\n");
  const [first = paragraph] = /^.*?\.(?=\s|$)/s.exec(paragraph) ?? [];
  const words = inOneLine(first).replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1");
  const rest = first === "" ? body : body.replace(first, "").trim();
  const summary = `<summary class="api-line">\n\n${words}\n\n</summary>`;
  // The heading's own link may not stand within the summary, which is a button.
  return `<div class="api-type">\n\n### ${name}\n\n<details class="details custom-block">\n${summary}\n\n${rest}\n\n</details>\n</div>`;
}

function inOneLine(text: string): string {
  return text.trim().replaceAll("\n", " ");
}

function reading(words: string): string {
  return `${words} Its fields are those of the [HTTP reference](/reference/).`;
}

// Headings that say what the table or the code below them shows anyway, and what only TypeDoc wants to say.
function withoutRepetition(text: string): string {
  return text
    .replaceAll(/^\*\*\*\n+/gm, "")
    .replaceAll(/^#+ (?:Overrides|Inherited from|Extended by|Implementation of)\n+(?:.+\n)+\n*/gm, "")
    .replaceAll(/^#+ Type Parameters\n+\| Type Parameter(?: \| Default type)? \|\n(?:\|.*\n)+\n*/gm, "")
    .replaceAll(
      /^#+ (?:Parameters|Properties|Methods|Accessors|Constructors|Example|Get Signature|Call Signature)\n+/gm,
      "",
    )
    .replaceAll(/^#+ (Returns|Throws|Extends|Default|Deprecated)\n+/gm, "**$1** ")
    .replaceAll(/^\*\*Default\*\* ```ts\n(.*)\n```$/gm, "**Default** `$1`")
    .replaceAll(/^\*\*Extends\*\* - /gm, "**Extends** ")
    .replaceAll(/^#{5,6} /gm, "#### ")
    .replaceAll(/^(\|.*\|) - \|$/gm, "$1 |")
    .replaceAll(/(?:^- `\w+`: The meaning is not documented\.\n)+/gm, (lines) =>
      lines.includes("\n- ") ? "- The others: the meaning is not documented.\n" : lines,
    )
    .replaceAll(/\n{3,}/g, "\n\n");
}
