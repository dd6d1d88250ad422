// A picture for a README: the revision, and how many rows passed.
import type { Counts } from "./report.js";

const height = 20;
const padding = 6;
// Of Verdana in 11 px, as an average: the text is stretched to it.
const characterWidth = 6.6;

/** An SVG with the counts of a run: green only where every row was served, and all that were not skipped passed. */
export function badgeOf({ passed, failed, skipped, neverServed }: Counts, revision: string): string {
  const label = `conformance ${revision}`;
  const left = skipped > 0 ? `, ${skipped} skipped` : "";
  const cut = neverServed > 0 ? `, ${neverServed} never served` : "";
  const rest = `${passed} passed${cut}${left}`;
  const value = failed > 0 ? `${failed} failed, ${rest}` : rest;
  const [labelWidth, valueWidth] = [widthOf(label), widthOf(value)];
  const width = labelWidth + valueWidth;
  const color = failed > 0 || neverServed > 0 || passed === 0 ? "#b3261e" : "#1a7f37";
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" role="img" aria-label="${label}: ${value}">
<title>${label}: ${value}</title>
<rect width="${labelWidth}" height="${height}" fill="#444"/>
<rect x="${labelWidth}" width="${valueWidth}" height="${height}" fill="${color}"/>
<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
${textAt(label, padding)}
${textAt(value, labelWidth + padding)}
</g>
</svg>
`;
}

function widthOf(text: string): number {
  return Math.round(text.length * characterWidth) + 2 * padding;
}

function textAt(text: string, x: number): string {
  const length = Math.round(text.length * characterWidth);
  return `<text x="${x}" y="14" textLength="${length}">${text}</text>`;
}
