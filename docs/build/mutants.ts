import { readFile } from "node:fs/promises";
import { readData } from "./data.js";
import { type Page, table } from "./markdown.js";

interface Scores {
  readonly date: string;
  readonly mutants: readonly { readonly language: string; readonly killed: number; readonly of: number }[];
}

interface Mutants {
  readonly mutants: readonly { readonly sentence: string; readonly rule: string; readonly found?: string }[];
}

/** How many broken clients the rows tell, by language, and what each does. */
export async function mutantsPart(): Promise<Page> {
  const { date, mutants: scores } = await readData<Scores>(
    "conformance.json",
    "npm run check:generators -- --conformance --all",
  );
  const file = new URL("../../contract/conformance/mutants.json", import.meta.url);
  const { mutants } = JSON.parse(await readFile(file, "utf8")) as Mutants;
  const lines = scores.map(({ language, killed, of }) => [
    language,
    `${of}`,
    `${killed}`,
    `${Math.floor((killed / of) * 100)} %`,
    `${mutants.length - of}`,
  ]);
  const rules = [...new Set(mutants.map(({ rule }) => rule))];
  const text = [
    table(["Language", "Broken clients", "Told", "Score", "Not made in it"], lines),
    "",
    `Measured on ${date}. What is not made in a language is what its library does by itself, such as encoding ids.`,
    "",
    `<details><summary>All ${mutants.length} ways, by the rule that they break</summary>`,
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
