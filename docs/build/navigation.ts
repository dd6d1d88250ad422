import type { Section } from "./llms.js";

/** An entry of the sidebar. */
interface Entry {
  readonly text?: string;
  readonly link?: string;
  readonly items?: readonly Entry[];
}

/** The sidebar's parts with the Markdown of their pages, those of folded parts included; the home page is the first. */
export function sectionsOf(sidebar: readonly Entry[]): Section[] {
  return sidebar.map(({ text = "", items = [] }, index) => ({
    heading: text,
    targets: [...(index === 0 ? ["index.md"] : []), ...items.flatMap(targetsOf)],
  }));
}

function targetsOf({ link, items = [] }: Entry): string[] {
  const own =
    link === undefined
      ? []
      : [
          link
            .slice(1)
            .replace(/(^|\/)$/, "$1index")
            .concat(".md"),
        ];
  return [...own, ...items.flatMap(targetsOf)];
}
