// What TypeDoc writes of an entry, as a page to read: functions with their signatures, types folded to a line each.

const folded = ["Classes", "Interfaces", "Type Aliases"];

/** Where the contract's own shapes have their fields and values, by name: a page of the site. */
export type Shapes = ReadonlyMap<string, string>;

/** One page of TypeDoc's Markdown in the form of the site. */
export function apiPage(text: string, shapes: Shapes): string {
  const [intro = "", ...groups] = withoutRepetition(text).split(/^## /m);
  const functions = groups.filter((group) => !folded.includes(titleOf(group)));
  const members = groups.filter((group) => folded.includes(titleOf(group))).flatMap(membersOf);
  const types = withoutInherited(members).filter((member) => !shapes.has(titleOf(member)));
  const contracts = members.filter((member) => shapes.has(titleOf(member)));
  const parts = [intro.trim(), ...functions.map((group) => `## ${group.trim()}`)];
  if (types.length > 0) parts.push("## Types", ...types.map(foldedType));
  if (contracts.length > 0)
    parts.push("## Shapes of the contract", contracts.map(shapeLine(shapes)).join("\n"));
  const [, words = ""] = intro.split("\n\n");
  const page = `---\ndescription: ${JSON.stringify(inOneLine(words))}\npageClass: api\n---\n\n${parts.join("\n\n")}\n`;
  return withLinks(page, shapes);
}

// The HTTP reference has its fields and values: a link and what it is.
function shapeLine(shapes: Shapes): (member: string) => string {
  return (member) => {
    const name = titleOf(member);
    const words = firstSentence(member.slice(name.length).replaceAll(/^```.*?^```$/gms, ""));
    return `- [\`${name}\`](${shapes.get(name)}): ${words}`;
  };
}

// TypeDoc links to headings of members, which are none here, and to the shapes, which stand elsewhere.
function withLinks(page: string, shapes: Shapes): string {
  const anchors = new Map([...shapes].map(([name, address]) => [name.toLowerCase(), address]));
  const headings = new Set([...page.matchAll(/^#{2,3} (.*)$/gm)].map(([, name = ""]) => anchorOf(name)));
  return page.replaceAll(
    /\[([^\]]*)\]\(([\w./]*)#([\w-]+)\)/g,
    (link, words: string, file: string, anchor: string) => {
      const address = anchors.get(anchor);
      if (address !== undefined) return `[${words}](${address})`;
      return file !== "" || headings.has(anchor) ? link : words;
    },
  );
}

function anchorOf(heading: string): string {
  return heading.toLowerCase().replaceAll(/[^\w-]/g, "");
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
  components: "The contract's schemas, parameters and responses, as openapi-typescript writes them.",
  operations: "The contract's operations by their ids, as openapi-typescript writes them.",
};

// The name and the first sentence stay; the rest unfolds.
function foldedType(member: string): string {
  const name = titleOf(member);
  const own = generated[name];
  const body = own === undefined ? member.slice(name.length).trim() : reading(own);
  const first = firstSentence(body.replaceAll(/^```.*?^```$/gms, ""));
  const words = first.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1");
  const rest = first === "" ? body : body.replace(first, "").trim();
  const summary = `<summary class="api-line">\n\n${inOneLine(words)}\n\n</summary>`;
  // The heading's own link may not stand within the summary, which is a button.
  return `<div class="api-type">\n\n### ${name}\n\n<details class="details custom-block">\n${summary}\n\n${rest}\n\n</details>\n</div>`;
}

function firstSentence(prose: string): string {
  const [paragraph = ""] = prose.trim().split("\n\n");
  return /^.*?\.(?=\s|$)/s.exec(paragraph)?.[0] ?? paragraph;
}

// What a type has of the one it extends stands there: rows that say the same, and operations that it wraps.
function withoutInherited(members: readonly string[]): string[] {
  const rowsOf = (member: string) => new Set(member.split("\n").filter((line) => line.startsWith("| `")));
  const known = new Map(members.map((member) => [titleOf(member), rowsOf(member)]));
  const wrapped = members.flatMap(
    (member) => /^\*\*Extends\*\* \[`(\w+Operations)`\]/m.exec(member)?.[1] ?? [],
  );
  return members.map((member) => {
    const name = titleOf(member);
    if (wrapped.includes(name)) {
      return `${name}\n\nThe same as the contract has it, without what the client adds.\n`;
    }
    const [, parent = ""] = /^\*\*Extends\*\* (?:`Omit`\\<)?\[`(\w+)`\]/m.exec(member) ?? [];
    const inherited = known.get(parent);
    return member
      .split("\n")
      .filter((line) => !inherited?.has(line))
      .join("\n");
  });
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
    .replaceAll(/^#{4,6} (.*)$/gm, "**$1**")
    .replaceAll(/^#{2,6} Returns\n+\[?`\S*$\n*/gm, "")
    .replaceAll(/<a id="property-[^"]*"><\/a> ?/g, "")
    .replaceAll(/^(\|.*\|) - \|$/gm, "$1 |")
    .replaceAll(/(?:^- `\w+`: The meaning is not documented\.\n)+/gm, (lines) =>
      lines.includes("\n- ") ? "- The others: the meaning is not documented.\n" : lines,
    )
    .replaceAll(/\n{3,}/g, "\n\n");
}
