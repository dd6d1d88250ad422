// How many of the broken clients of contract/conformance/mutants.json their rows tell, by language.
import {
  brokenGo,
  brokenPython,
  mutants,
  namesOf,
  type RunClient,
  type Survivor,
  survivorsOf,
} from "../../../test/support/conformance/mutants.js";
import { missing } from "../check/toolchains.js";

/** What came of the broken clients of a language. */
export interface Score {
  readonly language: string;
  readonly killed: number;
  readonly of: number;
  readonly survivors: readonly Survivor[];
}

interface Language {
  readonly language: string;
  readonly folder: string;
  readonly needs: readonly string[];
  readonly client: () => Promise<RunClient>;
}

const languages: readonly Language[] = [
  { language: "Python", folder: "python", needs: ["Python 3.11 or newer"], client: brokenPython },
  { language: "Go", folder: "go", needs: ["Go"], client: brokenGo },
];

/** Runs them. @param all Whether in every language, or in Python alone. */
export async function scoresOf(all: boolean): Promise<readonly Score[]> {
  const scores: Score[] = [];
  for (const { language, folder, needs, client } of languages.slice(0, all ? undefined : 1)) {
    const lacking = await missing(needs);
    if (lacking.length > 0) {
      console.log(`${language}: the broken clients are skipped, they need ${lacking.join(", ")}`);
      continue;
    }
    const names = namesOf(folder);
    const survivors = await survivorsOf(names, await client(), 6);
    const of = mutants.filter(({ name }) => names.has(name)).length;
    scores.push({ language, killed: of - survivors.length, of, survivors });
  }
  return scores;
}
