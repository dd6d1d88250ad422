// Keeps pages short: long tables and lists get a filter, parts that few need are folded below their heading.
import type { MarkdownEnv, MarkdownRenderer } from "vitepress";

type Token = ReturnType<MarkdownRenderer["parse"]>[number];

// Headings whose parts are folded, by page.
const folded: Readonly<Record<string, readonly string[]>> = {
  "guide/beyond-one-machine": [
    "time-limits-and-cancellation",
    "scale-a-deployment-on-a-schedule",
    "rank-many-queries",
  ],
  "guide/conformance": ["the-rules", "the-runner"],
  "guide/errors": ["log-an-error-as-json"],
  "guide/extensions": [
    "x-http-statuses",
    "x-enumnames",
    "x-enum-descriptions",
    "x-enumdescriptions",
    "x-limits",
  ],
  "guide/questions": [
    "how-do-i-upload-a-file-from-s3",
    "how-do-i-prepare-a-data-file-from-csv",
    "is-there-a-ping-or-a-health-check",
  ],
  "guide/request": ["retries"],
  "guide/retries": ["retries-during-an-outage"],
  "guide/runtimes": ["runtimes"],
  "guide/testing": ["mock-data", "with-msw", "with-nock"],
  "guide/unstated": ["error-responses", "the-contract-as-a-whole"],
  "guide/upload": ["streams-can-be-sent-only-once", "files-that-change-during-an-upload"],
};

// Headings whose first list is folded, and what it holds.
const foldedLists: Readonly<Record<string, readonly [anchor: string, summary: string]>> = {
  "guide/retries": ["waits-and-the-retry-budget", "Waits, the budget, connections"],
};

// Pages that are lists as a whole, and what one looks for in them.
const lists: Readonly<Record<string, string>> = {
  "guide/changelog": "Find a change",
  "guide/unstated": "Find a decision",
};

// Pages whose long table holds commands to paste.
const commandTables: Readonly<Record<string, string>> = { "guide/languages": "Find a language" };

const mostRows = 12;

/** Headings that are named above or in the search's words, and were not there when the pages were rendered. */
export const missing: string[] = [];

/** Arranges the tokens of each page before they are rendered. */
export function arrange(markdown: MarkdownRenderer): void {
  markdown.core.ruler.push("arrange", ({ tokens, env, Token: Kind }) => {
    const html = (content: string) =>
      Object.assign(new Kind("html_block", "", 0), { content: `${content}\n` });
    const page = (env as MarkdownEnv).relativePath?.replace(/^generated\//, "").replace(/\.md$/, "") ?? "";
    // The search tells parts apart by the links of their headings, which cannot stand in a summary.
    if ((env as { isSearch?: boolean }).isSearch) return;
    showTabs(tokens, html);
    showPrints(tokens, html);
    filterTables(tokens, html, commandTables[page]);
    labelCells(tokens);
    for (const anchor of folded[page] ?? []) foldPart(tokens, anchor, html);
    if (foldedLists[page]) foldList(tokens, foldedLists[page], html);
    const label = lists[page];
    if (label) {
      const first = tokens.findIndex(({ type }) => type === "heading_close");
      tokens.splice(first + 1, 0, html(`<TableFilter label="${label}" of="page" />`));
    }
    if (page !== "index") placeTools(tokens, html);
  });
}

// A command that installs, as each package manager has it: the block names them in `tabs`.
const installs: Readonly<Record<string, string>> = {
  npm: "npm install",
  pnpm: "pnpm add",
  yarn: "yarn add",
  bun: "bun add",
};

function showTabs(tokens: Token[], html: (content: string) => Token): void {
  for (let index = 0; index < tokens.length; index++) {
    const fence = tokens[index] as Token;
    const managers = / tabs="([^"]+)"/.exec(fence.info)?.[1]?.split(" ") ?? [];
    if (fence.type !== "fence" || managers.length === 0) continue;
    const tabs = managers.map((name, at) => {
      const id = `tab-${index}-${name}`;
      const checked = at === 0 ? " checked" : "";
      return `<input type="radio" name="tabs-${index}" id="${id}"${checked}><label data-title="${name}" for="${id}">${name}</label>`;
    });
    const blocks = managers.map((name, at) =>
      Object.assign(Object.create(Object.getPrototypeOf(fence)), fence, {
        info: at === 0 ? "sh active" : "sh",
        content: fence.content.replaceAll("npm install", installs[name] ?? name),
      }),
    );
    const open = `<div class="vp-code-group"><div class="tabs">${tabs.join("")}</div><div class="blocks">`;
    tokens.splice(index, 1, html(open), ...blocks, html("</div></div>"));
    index += blocks.length + 1;
  }
}

// "Copy page" stands below the title.
function placeTools(tokens: Token[], html: (content: string) => Token): void {
  const title = tokens.findIndex(({ type, tag }) => type === "heading_close" && tag === "h1");
  if (title >= 0) tokens.splice(title + 1, 0, html("<PageTools />"));
}

// A block that the lab can run is within it, with what it prints.
function showPrints(tokens: Token[], html: (content: string) => Token): void {
  for (let index = 0; index < tokens.length; index++) {
    const { type, info, content } = tokens[index] as Token;
    if (type === "html_block" && /^<details>\s/.test(content))
      (tokens[index] as Token).content = content.replace(
        "<details>",
        '<details class="custom-block details">',
      );
    const [comment, which, cause] = /^<!-- lab: (\w+) ([\w-]+) -->/.exec(content) ?? [];
    if (type === "html_block" && comment !== undefined)
      (tokens[index] as Token).content = `<FailureLab operation="${which}" preset="${cause}" />\n`;
    if (type !== "fence") continue;
    const [, operation, preset] = / lab="(\w+) ([\w-]+)"/.exec(info) ?? [];
    if (operation !== undefined) {
      const printed = tokens.findIndex((each, at) => at > index && / prints\b/.test(each.info));
      tokens.splice(printed + 1, 0, html("</FailureLab>"));
      tokens.splice(index, 0, html(`<FailureLab operation="${operation}" preset="${preset}">`));
      index += 1;
    }
    if (!/ prints\b/.test(info)) continue;
    tokens.splice(index + 1, 0, html("</div>"));
    tokens.splice(index, 0, html('<div class="prints">'));
    index += 1;
  }
}

function filterTables(tokens: Token[], html: (content: string) => Token, commands?: string): void {
  let isFiltered = false;
  for (let index = 0; index < tokens.length; index++) {
    const { type, content, level } = tokens[index] as Token;
    if (type === "html_block" && content.includes("TableFilter"))
      isFiltered = !content.includes("</TableFilter");
    if (type !== "table_open" || isFiltered) continue;
    const end = tokens.findIndex(
      (each, at) => at > index && each.type === "table_close" && each.level === level,
    );
    const rows = tokens.slice(index, end).filter((each) => each.type === "tr_open").length - 1;
    if (rows <= mostRows) continue;
    if (commands) tokens.splice(end + 1, 0, html("</div>"));
    const label = commands ?? "Find a row";
    const before = `${commands ? '<div class="commands">\n' : ""}<TableFilter label="${label}" of="next" />`;
    tokens.splice(index, 0, html(before));
    index = end + 1;
  }
}

// On a phone a row is two lines: below the first cell stand the others, each with the name of its column.
function labelCells(tokens: Token[]): void {
  let names: string[] = [];
  let column = 0;
  for (const [index, token] of tokens.entries()) {
    if (token.type === "table_open") names = [];
    else if (token.type === "tr_open") column = 0;
    else if (token.type === "th_open") names.push(tokens[index + 1]?.content.replaceAll(/[`*]/g, "") ?? "");
    else if (token.type === "td_open") {
      const name = names[column++] ?? "";
      if (names.length > 3 && column > 1 && name !== "") token.attrSet("data-label", name);
    }
  }
}

function headingAt(tokens: readonly Token[], anchor: string): number {
  const found = tokens.findIndex(
    ({ type, attrs }) => type === "heading_open" && attrs?.some(([, value]) => value === anchor),
  );
  if (found < 0) missing.push(anchor);
  return found;
}

function foldList(
  tokens: Token[],
  [anchor, summary]: readonly [string, string],
  html: (content: string) => Token,
): void {
  const start = headingAt(tokens, anchor);
  const open = tokens.findIndex(
    ({ type, level }, index) => index > start && type === "bullet_list_open" && level === 0,
  );
  const close = tokens.findIndex(
    ({ type, level }, index) => index > open && type === "bullet_list_close" && level === 0,
  );
  if (start < 0 || open < 0) return;
  tokens.splice(close + 1, 0, html("</details>"));
  tokens.splice(open, 0, html(`<details class="custom-block details"><summary>${summary}</summary>`));
}

// The heading stays in the outline and in the search; a link to it unfolds its part.
function foldPart(tokens: Token[], anchor: string, html: (content: string) => Token): void {
  const start = headingAt(tokens, anchor);
  if (start < 0) return;
  const depth = Number(tokens[start]?.tag.slice(1));
  const next = tokens.findIndex(
    ({ type, tag }, index) => index > start && type === "heading_open" && Number(tag.slice(1)) <= depth,
  );
  const end = next < 0 ? tokens.length : next;
  tokens.splice(end, 0, html("</details>"));
  const close = tokens.findIndex(({ type }, index) => index > start && type === "heading_close");
  const words = tokens[start + 1] as Token;
  const link =
    words.children?.findIndex(({ attrs }) => attrs?.some(([, value]) => value === "header-anchor")) ?? -1;
  if (link >= 0) words.children?.splice(link, 3);
  tokens.splice(close + 1, 0, html("</summary>"));
  tokens.splice(start, 0, html('<details class="part"><summary>'));
}
