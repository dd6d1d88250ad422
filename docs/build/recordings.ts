// The pictures of the command line: what the program prints on a terminal, recorded from the program and its mock server.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, open, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { withParts } from "./guides.js";
import { block } from "./markdown.js";

/** What a terminal shows, as a picture: lines with ANSI colours in, SVG out. */
const colours: Readonly<Record<string, string>> = {
  1: "#ffffff",
  2: "#9a9d96",
  31: "#f59b7a",
  32: "#9ad29a",
  33: "#e5bb62",
  36: "#6fcdb8",
};
const plainColour = "#e8e6df";
const cell = { width: 8.4, height: 20 };
const margin = 18;

interface Span {
  readonly text: string;
  readonly colour: string;
}

/** The picture of the lines, none wider than `columns`; its colours are those of the dark pages. */
function terminalSvg(lines: readonly string[], columns: number): string {
  const rows = lines.flatMap((line) => wrapped(spansOf(line), columns));
  const width = Math.ceil(columns * cell.width + 2 * margin);
  const height = rows.length * cell.height + 2 * margin;
  const texts = rows.flatMap((spans, row) => rowOf(spans, margin + (row + 0.75) * cell.height));
  return `<svg role="img" aria-label="A terminal" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="ui-monospace, SF Mono, Cascadia Mono, Menlo, Consolas, Liberation Mono, monospace" font-size="14">
<rect width="${width}" height="${height}" rx="6" fill="#121615"/>
${texts.join("\n")}
</svg>
`;
}

/** The text alone. */
function plainText(line: string): string {
  return spansOf(line)
    .map(({ text }) => text)
    .join("");
}

// What a line that was written over ends with is what is seen.
function spansOf(line: string): Span[] {
  const seen = line.split("\u001b[K").at(-1) ?? "";
  const [first = "", ...coloured] = seen.replaceAll("\r", "").split("\u001b[");
  const spans = coloured.map((part) => {
    const [, code = "", text = ""] = /^(\d+)m(.*)$/s.exec(part) ?? [];
    return { text, colour: colours[code] ?? plainColour };
  });
  return [{ text: first, colour: plainColour }, ...spans].filter(({ text }) => text !== "");
}

// Between words where there are some, so that it reads well.
function wrapped(spans: readonly Span[], columns: number): Span[][] {
  const rows: Span[][] = [[]];
  let room = columns;
  for (const { text, colour } of spans) {
    for (const word of text.match(/\S+\s*|\s+/g) ?? []) {
      if (word.trimEnd().length > room && room < columns) {
        rows.push([]);
        room = columns;
      }
      rows.at(-1)?.push({ text: word, colour });
      room -= word.length;
    }
  }
  return rows;
}

function rowOf(spans: readonly Span[], y: number): string[] {
  let column = 0;
  return spans.map(({ text, colour }) => {
    const x = (margin + column * cell.width).toFixed(1);
    column += text.length;
    const drawn = text.trimEnd();
    const length = (drawn.length * cell.width).toFixed(1);
    if (/^[█▏▎▍▌▋▊▉░]+$/.test(drawn)) return barOf(drawn, Number(x), y, colour);
    return `<text x="${x}" y="${y}" fill="${colour}" textLength="${length}" lengthAdjust="spacingAndGlyphs">${escaped(drawn)}</text>`;
  });
}

// Drawn, because fonts leave gaps between the blocks of a bar.
function barOf(bar: string, x: number, y: number, colour: string): string {
  const eighths = [..."█▉▊▋▌▍▎▏"];
  const filled = [...bar].reduce((sum, each) => sum + (each === "░" ? 0 : 1 - eighths.indexOf(each) / 8), 0);
  const top = y - cell.height * 0.6;
  const rectangle = (cells: number, fill: string) =>
    `<rect x="${x}" y="${top}" width="${(cells * cell.width).toFixed(1)}" height="12" fill="${fill}"/>`;
  return rectangle(bar.length, "#2f3a37") + rectangle(filled, colour);
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

const columns = 58;
const lineEnd = " ⏎ ";

/** Each recording is one session: commands in their order, against a mock server with these failures. */
const sessions = {
  rerank: { fail: [], commands: ["tunerank rerank --query reset --top-n 2 articles.txt"] },
  upload: {
    fail: ["upload:503"],
    commands: ["tunerank upload reviews train.jsonl", "echo $?"],
  },
  scale: {
    fail: [],
    commands: ["tunerank scale support-search 0 --yes", "tunerank scale support-search all"],
  },
};

// The program sees a terminal, without there being one.
const terminal = `data:text/javascript,for (const s of [process.stdout, process.stderr]) { s.isTTY = true; s.columns = ${columns}; }`;

const intro =
  "On a terminal it looks like this; the second and the third picture show failures. The [mock server](/guide/testing.md#mock-server-on-a-port) responds, with mock data for scores:";

const articles = `Invoices of the last two years can be downloaded as PDF under Settings, Billing.
A password needs twelve characters and must differ from your last five.
If you forgot your password, choose Reset on the sign-in page.
Our office in Lisbon is closed on public holidays.
A reset link is valid for thirty minutes; ask for a new one after that.
`;

/** The pictures by their names, and the guide that shows them, as they should be now; files are below the project's folder. */
export async function recordings(root: string): Promise<Record<string, string>> {
  const folder = await mkdtemp(path.join(tmpdir(), "tunerank-recording-"));
  const files: Record<string, string> = {};
  const pictures: string[] = [];
  try {
    await writeFile(path.join(folder, "articles.txt"), articles);
    await cp(path.join(root, "examples/train.jsonl"), path.join(folder, "train.jsonl"));
    for (const [name, { fail, commands }] of Object.entries(sessions)) {
      const lines = await record(path.join(root, "dist/cli/main.js"), folder, fail, commands);
      files[`docs/public/terminal/${name}.svg`] = terminalSvg(lines, columns);
      const words = lines.map(plainText).join(lineEnd).replaceAll(/[[\]]/g, "\\$&");
      pictures.push(`![${words}](../public/terminal/${name}.svg)`);
    }
  } finally {
    await rm(folder, { recursive: true });
  }
  const text = `${intro}\n\n<div class="terminal" tabindex="0">\n\n${pictures.join("\n\n")}\n\n</div>\n`;
  const guide = "docs/guide/cli.md";
  const parts = [{ path: "parts/terminals.md", text }];
  return { ...files, [guide]: withParts(guide, await readFile(path.join(root, guide), "utf8"), parts) };
}

/** Text in which each recording is a block of what it says. */
export function withoutRecordings(text: string): string {
  return text.replaceAll(/^!\[(\$ .*)\]\(.*\/terminal\/\w+\.svg\)$/gm, (_, words: string) =>
    block("console", words.replaceAll(lineEnd, "\n").replaceAll(/\\([[\]])/g, "$1")),
  );
}

async function record(
  program: string,
  folder: string,
  fail: readonly string[],
  commands: readonly string[],
): Promise<string[]> {
  const args = ["mock", "--port", "0", ...fail.flatMap((each) => ["--fail", each])];
  const mock = spawn(process.execPath, [program, ...args], { stdio: ["ignore", "pipe", "ignore"] });
  try {
    const [listening] = await once(createInterface(mock.stdout), "line");
    const [baseUrl = ""] = /http:\S+\d/.exec(listening) ?? [];
    const lines: string[] = [];
    let exitCode = 0;
    for (const command of commands) {
      lines.push(`\u001b[2m$\u001b[0m \u001b[1m${command}\u001b[0m`);
      if (command === "echo $?") lines.push(`${exitCode}`);
      else {
        const ran = await runOnce(program, folder, baseUrl, command);
        exitCode = ran.exitCode;
        lines.push(...ran.lines);
      }
    }
    return lines;
  } finally {
    mock.kill();
    await once(mock, "exit");
  }
}

// Both streams go to one file, so that their lines stand in the order in which they were written.
async function runOnce(
  program: string,
  cwd: string,
  baseUrl: string,
  command: string,
): Promise<{ lines: string[]; exitCode: number }> {
  const written = path.join(cwd, "written");
  const file = await open(written, "w");
  const args = [...command.matchAll(/"([^"]*)"|(\S+)/g)].slice(1).map(([, quoted, bare]) => quoted ?? bare);
  // A person at a terminal: with CI set, no bars are drawn.
  const { NO_COLOR: _, CI: __, ...env } = process.env;
  const child = spawn(process.execPath, ["--import", terminal, program, ...args.map(String)], {
    cwd,
    stdio: ["ignore", file.fd, file.fd],
    env: {
      ...env,
      FORCE_COLOR: "1",
      TUNERANK_BASE_URL: baseUrl,
      TUNERANK_API_KEY: "any",
      TUNERANK_ACCOUNT_ID: "acme",
    },
  });
  const [exitCode] = await once(child, "exit");
  await file.close();
  return { lines: (await readFile(written, "utf8")).trimEnd().split("\n"), exitCode };
}
