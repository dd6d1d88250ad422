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
export function terminalSvg(lines: readonly string[], columns: number): string {
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
export function plainText(line: string): string {
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
