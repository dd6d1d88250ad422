// The colours of every chart, in both modes: those of the site's pages (docs/.vitepress/theme/style.css).
const light = {
  ink: "#1c1f1e",
  note: "#4a514e",
  ground: "#ffffff",
  edge: "#d5d1c4",
  bar: "#b9b4a3",
  own: "#0d6b5c",
};
const dark = {
  ink: "#e8e6df",
  note: "#b9bab3",
  ground: "#1a1f1e",
  edge: "#36403d",
  bar: "#5c6663",
  own: "#56b8a2",
};

const rules = ({ ink, note, ground, edge, bar, own }, indent) =>
  [
    `text { fill: ${ink}; }`,
    `.note { fill: ${note}; }`,
    `.ground { fill: ${ground}; stroke: ${edge}; }`,
    `.bar, .area { fill: ${bar}; }`,
    `.own { fill: ${own}; }`,
    `.line { stroke: ${own}; }`,
    `.other { stroke: ${note}; }`,
  ]
    .map((rule) => `${indent}${rule}`)
    .join("\n");

/** The style of a chart. */
export const style = `
  text { font: 13px system-ui, "Segoe UI", Helvetica, Arial, sans-serif; }
  .heading { font-size: 15px; font-weight: 600; }
  .area { opacity: 0.5; }
  .line, .other { fill: none; stroke-width: 2; }
  .known { stroke-dasharray: 2 3; }
  .peer { stroke-dasharray: 8 4; }
  .away { fill: #a83a17; opacity: 0.14; }
${rules(light, "  ")}
  @media (prefers-color-scheme: dark) {
${rules(dark, "    ")}
  }`;
