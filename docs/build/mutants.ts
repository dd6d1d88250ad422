import { readFile } from "node:fs/promises";
import { datesOf, readData } from "./data.js";
import { type Page, table } from "./markdown.js";

interface Scores {
  readonly mutants: readonly {
    readonly language: string;
    readonly date: string;
    readonly killed: number;
    readonly of: number;
    /** By name, why it cannot be made there. */
    readonly notMade?: Readonly<Record<string, string>>;
  }[];
}

interface Mutants {
  readonly mutants: readonly {
    readonly name: string;
    readonly sentence: string;
    readonly rule: string;
    readonly found?: string;
  }[];
}

/** How many broken clients the rows detect, by language, and what each does. */
export async function mutantsPart(): Promise<Page> {
  const { mutants: scores } = await readData<Scores>(
    "conformance.json",
    "npm run check:generators -- --conformance --all",
  );
  const file = new URL("../../contract/conformance/mutants.json", import.meta.url);
  const { mutants } = JSON.parse(await readFile(file, "utf8")) as Mutants;
  const lines = scores.map(({ language, killed, of, notMade = {} }) => [
    language,
    `${of}`,
    `${killed}`,
    `${Math.floor((killed / of) * 100)} %`,
    `${Object.keys(notMade).length}`,
    `${mutants.length - of - Object.keys(notMade).length}`,
  ]);
  const notMade = scores.flatMap(({ language, notMade: reasons = {} }) =>
    Object.entries(reasons).map(([name, why]) => {
      const sentence = mutants.find((mutant) => mutant.name === name)?.sentence;
      if (sentence === undefined) throw new Error(`${name} is no mutant.`);
      return `- ${language}: "${sentence}" ${why}`;
    }),
  );
  const rules = [...new Set(mutants.map(({ rule }) => rule))];
  const text = [
    table(["Language", "Mutants", "Detected", "Score", "Not possible", "Not written"], lines),
    "",
    `Measured on ${datesOf(scores.map(({ language, date }) => ({ name: language, date })))}.${notMade.length > 0 ? " *Not written*: nobody has broken the client of this language in this way so far. *Not possible*: the platform, or the way in which this client is built, rules the mistake out:" : ""}`,
    "",
    ...notMade,
    "",
    `<details><summary>All ${mutants.length} mutants, by the rule that they break</summary>`,
    "",
    ...rules.flatMap((rule) => [
      `**${rule}**`,
      "",
      ...mutants.filter((mutant) => mutant.rule === rule).map((mutant) => `- ${lineOf(mutant)}`),
      "",
    ]),
    "</details>",
  ];
  return { path: "parts/mutants.md", text: text.join("\n") };
}

function lineOf({ sentence, found }: Mutants["mutants"][number]): string {
  if (found === undefined) return sentence;
  return `${sentence} [${found}](https://github.com/${found.replace("#", "/issues/")})`;
}
