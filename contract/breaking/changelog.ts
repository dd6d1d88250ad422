import { describeBreak } from "./comparison.js";
import type { Changes } from "./findChanges.js";

const begin = "<!-- from the documents: npm run check:breaking -- --changelog -->";
const end = "<!-- end -->";

/** The changes between two contracts as a part of the changelog. */
export function describeChanges({ breaks, additions, deprecations }: Changes): string {
  const renamed = breaks.flatMap(({ what }) => /^is now called (\w+)$/.exec(what)?.[1] ?? []);
  const added = additions.filter((line) => !renamed.some((name) => line === `schema \`${name}\``));
  const lines = [
    ...listed("Breaking", breaks.map(describeBreak)),
    ...listed("Added", added),
    ...listed("Deprecated", deprecations),
  ];
  const text = lines.length > 0 ? lines.join("\n") : "Texts and examples only.\n";
  return `${begin}\n\n${text}\n${end}`;
}

// A page shows a long list when it is asked for.
function listed(title: string, changes: readonly string[]): string[] {
  if (changes.length === 0) return [];
  const list = [...changes.map((change) => `- ${change}`), ""];
  const isLong = changes.length > 10;
  const folded = ["<details>", `<summary>${changes.length} changes</summary>`, "", ...list, "</details>", ""];
  return [`**${title}**`, "", ...(isLong ? folded : list)];
}

/** The changelog with the changes of a revision in its section, which is made when there is none. */
export function withChanges(changelog: string, revision: string, changes: string): string {
  const heading = `## ${revision}\n`;
  const first = changelog.search(/^## /m);
  const start = changelog.indexOf(heading);
  if (start < 0) {
    const at = first < 0 ? changelog.length : first;
    return `${changelog.slice(0, at)}${heading}\n${changes}\n\n${changelog.slice(at)}`;
  }
  const next = changelog.indexOf("\n## ", start);
  const section = changelog.slice(start, next < 0 ? undefined : next);
  const written = new RegExp(`${escaped(begin)}[^]*?${escaped(end)}`);
  const rest = next < 0 ? "" : changelog.slice(next);
  const replaced = written.test(section)
    ? section.replace(written, () => changes)
    : `${section.trimEnd()}\n\n${changes}\n`;
  return changelog.slice(0, start) + replaced + rest;
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

type Numbers = readonly [major: number, minor: number, patch: number];

/** Whether a revision may break what was built on an older one: a new first number, or before 1.0.0 the second. */
export function mayBreak(before: string, after: string): boolean {
  const [old, now] = [numbersOf(before), numbersOf(after)];
  if (now[0] !== old[0]) return now[0] > old[0];
  return now[0] === 0 && now[1] > old[1];
}

/** Sorts revisions, the oldest first. */
export function compareRevisions(one: string, other: string): number {
  const [a, b] = [numbersOf(one), numbersOf(other)];
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
}

function numbersOf(revision: string): Numbers {
  const [, major, minor, patch] = /^(\d+)\.(\d+)\.(\d+)$/.exec(revision) ?? [];
  if (patch === undefined) throw new Error(`"${revision}" is no revision: write three numbers, as 0.2.0.`);
  return [Number(major), Number(minor), Number(patch)];
}
