// The order in which the search shows pages: the build makes its index with this, and the reader's search asks it.
import type MiniSearch from "minisearch";
import type { SearchOptions, SearchResult } from "minisearch";

const small = new Set(
  "a an and are am at be by did do does for from has have how i if in is it its may me my no not of on or our own so that the their them there they this to us was we were what when where which while who whether why will with without you your".split(
    " ",
  ),
);

/** A word without its ending: "stores", "stored" and "storing" are found by each other. */
export function stem(word: string): string {
  const bare = word.toLowerCase();
  if (bare.length < 4 || /\d/.test(bare)) return bare;
  const single = bare.replace(/ies$/, "y").replace(/(?<![su])s$/, "");
  const rest = single.replace(/(?<=\w{4})(ing|ed|er)$/, "").replace(/([^aeiouls])\1$/, "$1");
  return rest.replace(/(?<=\w{2})e$/, "");
}

const separators = /[\s\p{P}]+/u;

interface Section {
  readonly id: string;
  readonly [field: string]: string;
}

const entities: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', amp: "&", "#39": "'" };
const asRead = (text = ""): string =>
  text.replace(/&(lt|gt|quot|amp|#39);/g, (_, name: string) => entities[name] ?? "").replace(/\s+/g, " ");

/** How a section is indexed: its headings, its text and the words of the list, which stand between two marks. */
export const indexOptions = {
  fields: ["title", "titles", "text", "words"],
  storeFields: ["title", "titles", "excerpt"],
  extractField: (section: Section, field: string): string => {
    const [before = "", said = "", after = ""] = (section.text ?? "").split("searchwords");
    if (field === "words") return said;
    if (field === "text") return asRead(before + after);
    return field === "excerpt"
      ? asRead(before + after)
          .trim()
          .slice(0, 1500)
      : (section[field] ?? "");
  },
  processTerm: (term: string): string | null => (small.has(term.toLowerCase()) ? null : stem(term)),
};

const asked: SearchOptions = {
  // A long section with code is not worse than a short one.
  bm25: { k: 1.2, b: 0.35, d: 0.5 },
  boost: { title: 4, titles: 2, text: 1, words: 3 },
  fuzzy: (term) => (term.length > 5 ? 0.15 : false),
};

// A guide or a recipe answers, those of the operations above all; lists of everything come last.
function weight(page: string): number {
  if (/\/guide\/(rerank|upload|scale|resume)\./.test(page)) return 1.5;
  if (
    /\/guide\/(benchmarks|changelog|conformance|decision-table|error-bodies|extensions|unstated)/.test(page)
  )
    return 0.7;
  if (/\/(guide|recipes)\//.test(page)) return 1.2;
  if (/\/codes\/\w/.test(page)) return 0.9;
  return /\/(api|enums)\//.test(page) ? 0.3 : 0.5;
}

/** A page that was found, with its best section. */
export interface Found {
  readonly id: string;
  readonly titles: readonly string[];
  readonly excerpt: string;
  /** The words that were found, as the index has them. */
  readonly terms: ReadonlySet<string>;
  readonly score: number;
}

/** A section that was found, with what it is worth and the words that it has of those that are asked for. */
interface Hit {
  readonly section: SearchResult;
  worth: number;
  readonly has: Set<string>;
  readonly terms: Set<string>;
}

// A rare word says more than a common one, and none says more than its rarity, however often it stands there.
function hitsOf(index: MiniSearch, words: readonly string[]): { hits: Hit[]; rarity: Map<string, number> } {
  const hits = new Map<string, Hit>();
  const rarity = new Map<string, number>();
  for (const [at, word] of words.entries()) {
    const prefix = at === words.length - 1 || word.length > 3;
    const sections = index.search(word, { ...asked, prefix });
    if (sections.length === 0) continue;
    const rare = Math.log(1 + index.documentCount / sections.length);
    rarity.set(word, rare);
    for (const section of sections) {
      const hit = hits.get(section.id) ?? { section, worth: 0, has: new Set(), terms: new Set() };
      hit.worth += rare * (section.score / (sections[0] as SearchResult).score) ** 0.4;
      hit.has.add(word);
      for (const term of Object.keys(section.match)) hit.terms.add(term);
      hits.set(section.id, hit);
    }
  }
  return { hits: [...hits.values()], rarity };
}

/** Each page once: by its best section, and by how much of what is asked it says at all. */
export function ranked(index: MiniSearch, query: string): Found[] {
  const words = [
    ...new Set(query.split(separators).filter((word) => word !== "" && indexOptions.processTerm(word))),
  ];
  const { hits, rarity } = hitsOf(index, words);
  const pages = new Map<string, Hit[]>();
  for (const hit of hits) {
    const page = String(hit.section.id).split("#")[0] as string;
    pages.set(page, [...(pages.get(page) ?? []), hit]);
  }
  const found = [...pages].map(([page, of]) => foundPage(page, of, rarity));
  return found.sort((a, b) => b.score - a.score).slice(0, 16);
}

function foundPage(page: string, hits: readonly Hit[], rarity: ReadonlyMap<string, number>): Found {
  const weigh = (words: Iterable<string>) =>
    [...words].reduce((sum, word) => sum + (rarity.get(word) ?? 0), 0);
  const all = weigh(rarity.keys());
  const worth = ({ worth: own, has }: Hit) => own * (weigh(has) / all);
  const [best, second] = [...hits].sort((a, b) => worth(b) - worth(a)) as [Hit, Hit?];
  const { section } = best;
  const said = weigh(new Set(hits.flatMap(({ has }) => [...has]))) / all;
  // What is asked for by its name, such as a code, is that page.
  const title = asRead(section.title).toLowerCase().split(separators).map(stem);
  const isNamed =
    section.titles.length === 0 &&
    title.length === rarity.size &&
    title.every((word) => best.terms.has(word));
  const together = worth(best) + (second ? 0.3 * worth(second) : 0);
  return {
    id: section.id,
    titles: [...section.titles, section.title].map(asRead),
    excerpt: section.excerpt || (hits.find((each) => each.section.excerpt)?.section.excerpt ?? ""),
    terms: best.terms,
    score: together * said * weight(page) * (isNamed ? 2 : 1),
  };
}

/** A text in parts, of which every second is a word that was found. */
export function marked(text: string, terms: ReadonlySet<string>): string[] {
  const parts = [""];
  for (const word of text.split(/([\p{L}\p{N}]+)/u)) {
    if (terms.has(stem(word))) parts.push(word, "");
    else parts.push(`${parts.pop()}${word}`);
  }
  return parts;
}

/** The part of a text with the first words that were found. */
export function around(text: string, terms: ReadonlySet<string>): string {
  const [before = ""] = marked(text, terms);
  const start =
    before.length < 80 || before.length === text.length ? 0 : text.indexOf(" ", before.length - 60) + 1;
  const part = text.slice(start, start + 220);
  return `${start > 0 ? "… " : ""}${part}${start + 220 < text.length ? " …" : ""}`;
}
