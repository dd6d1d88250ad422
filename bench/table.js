// The table that is printed: every contestant's median, then the bounds.
import { labels } from "./contestants.js";

export function table({ title, unit, medians, bounds }) {
  const lines = [`${title}${unit && `, ${unit}`}`];
  for (const [name, value] of sorted(medians)) {
    const row = `  ${(labels[name] ?? name).padEnd(26)}${number(value).padStart(10)}`;
    lines.push(
      isPeer(name) && "tunerank" in medians
        ? `${row}   tunerank takes ${number(medians.tunerank / value)} of it`
        : row,
    );
  }
  for (const [figure, { value, atMost, exactly, reached }] of Object.entries(bounds)) {
    const wanted = exactly === undefined ? `at most ${number(atMost)}` : `exactly ${number(exactly)}`;
    lines.push(`  ${reached ? "reached    " : "NOT REACHED"} ${figure}: ${number(value)}, must be ${wanted}`);
  }
  return `${lines.join("\n")}\n`;
}

function isPeer(name) {
  return name in labels && name !== "tunerank";
}

// Contestants go from best to worst; figures of one contestant alone keep their order.
function sorted(medians) {
  const entries = Object.entries(medians);
  return "tunerank" in medians ? entries.sort(([, a], [, b]) => order(a) - order(b)) : entries;
}

function order(value) {
  return Number.isFinite(value) ? value : Number.POSITIVE_INFINITY;
}

function number(value) {
  if (!Number.isFinite(value)) return "none";
  if (Number.isInteger(value)) return value.toLocaleString("en");
  const digits = Math.abs(value) >= 1000 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
