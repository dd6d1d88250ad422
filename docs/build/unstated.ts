import type { Contract } from "./contract.js";
import { code, type Page, prose } from "./markdown.js";

interface Decision {
  readonly open: string;
  readonly decided: string;
  readonly places: string[];
}

const groups: readonly (readonly [prefix: string, title: string])[] = [
  ["paths", "Operations"],
  ["components/schemas", "Schemas"],
  ["components/parameters", "Parameters"],
  ["components/responses", "Error responses"],
  ["", "The contract as a whole"],
];

/** Every `x-unstated` of the contract: what is left open, and what was decided. */
export function unstatedPart(contract: Contract): Page {
  const found = collect(contract.document, []);
  const places = found.flatMap((decision) => decision.places).length;
  const left = new Set(found);
  const parts = groups.map(([prefix, title]) => {
    const own = [...left].filter(({ places }) => places[0]?.startsWith(prefix));
    for (const decision of own) left.delete(decision);
    return `## ${title}\n\n${own.map(entry).join("\n")}`;
  });
  return {
    path: "parts/unstated.md",
    text: `${found.length} decisions, in ${places} places.\n\n${parts.join("\n\n")}\n`,
  };
}

function entry({ open, decided, places }: Decision): string {
  const names = [...new Set(places.map(shortName))].map(code).join(", ");
  // Where the tables of the guides link to.
  const anchor = places.includes("components/responses/PermissionDenied") ? '<span id="refused"></span>' : "";
  return `- ${anchor}${names}\n\n  *Not stated:* ${prose(open)}\n\n  *Decided:* ${prose(decided)}\n`;
}

// The same words in several places are one decision.
function collect(node: unknown, path: readonly string[], found: Decision[] = []): Decision[] {
  if (typeof node !== "object" || node === null) return found;
  for (const [key, value] of Object.entries(node)) {
    if (key !== "x-unstated") collect(value, [...path, key], found);
    else add(found, String(value), path);
  }
  return found;
}

function add(found: Decision[], text: string, path: readonly string[]): void {
  const parts = /^Not stated: (.*?)\s+Decided: (.*)$/s.exec(text.trim());
  if (parts === null)
    throw new Error(`x-unstated of ${path.join("/")} lacks "Not stated: ... Decided: ...".`);
  const [, open = "", decided = ""] = parts;
  const known = found.find((each) => each.open === open && each.decided === decided);
  if (known) known.places.push(path.join("/"));
  else found.push({ open, decided, places: [path.join("/")] });
}

function shortName(place: string): string {
  if (place.startsWith("paths/")) return place.slice("paths/".length).replace(/\/[a-z]+$/, "");
  const parts = place.split("/").filter((part) => !["components", "schemas", "properties"].includes(part));
  return parts.join(".") || "openapi.yaml";
}
