// Makes of a guide's Markdown what the site shows: tabs, outputs, labs.
import type { MarkdownEnv, MarkdownRenderer } from "vitepress";

type Token = ReturnType<MarkdownRenderer["parse"]>[number];

/** Arranges the tokens of each page before they are rendered. */
export function arrange(markdown: MarkdownRenderer): void {
  markdown.core.ruler.push("arrange", ({ tokens, env, Token: Kind }) => {
    const html = (content: string) =>
      Object.assign(new Kind("html_block", "", 0), { content: `${content}\n` });
    if ((env as { isSearch?: boolean }).isSearch) return;
    showTabs(tokens, html);
    showPrints(tokens, html);
    labelCells(tokens);
    breakLongCode(tokens, markdown.utils.escapeHtml);
    if ((env as MarkdownEnv).relativePath !== "index.md") placeTools(tokens, html);
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

// A path or a name in a table is broken after its slashes and dots, where there is no room for it.
function breakLongCode(tokens: Token[], escaped: (text: string) => string): void {
  const cells = tokens.filter((_, at) => tokens[at - 1]?.type === "td_open");
  for (const code of cells.flatMap(({ children }) => children ?? []))
    if (code.type === "code_inline" && /^\S{30,}$/.test(code.content))
      Object.assign(code, {
        type: "html_inline",
        content: `<code v-pre>${escaped(code.content).replace(/[/|.](?=[^\d])/g, "$&<wbr>")}</code>`,
      });
}
