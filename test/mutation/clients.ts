// The clients of contract/conformance, broken in each of the ways of mutants.json that their language has.
import { findGo, findJava, findPhp, findPython, type Language } from "../support/conformance/clients.js";
import {
  broken,
  brokenClient,
  failuresByMutant,
  mutants,
  namesOf,
  type Survivor,
  survivorsOf,
} from "../support/conformance/mutants.js";

/** What came of the broken clients of a language. */
export interface Score {
  readonly language: string;
  readonly killed: number;
  readonly of: number;
  readonly survivors: readonly Survivor[];
  /** By name, why a way in which clients break cannot be made in the language. */
  readonly notMade: Readonly<Record<string, string>>;
}

/** A language that a client of contract/conformance is written in. */
export interface ClientLanguage {
  readonly language: string;
  readonly name: Language;
  /** Whether this machine has what the client needs. */
  readonly find: () => Promise<unknown>;
  /** How many broken clients run at once. */
  readonly atOnce: number;
}

/** Every language. */
export const languages: readonly ClientLanguage[] = [
  { language: "Python", name: "python", find: findPython, atOnce: 6 },
  { language: "Go", name: "go", find: findGo, atOnce: 6 },
  // Each has a compiler and a machine of its own to start.
  { language: "Java", name: "java", find: findJava, atOnce: 3 },
  { language: "PHP", name: "php", find: findPhp, atOnce: 6 },
];

/** Runs the broken clients of languages, and prints which of them no row tells. */
export async function scoresOf(asked: readonly ClientLanguage[]): Promise<readonly Score[]> {
  const scores: Score[] = [];
  for (const { language, name, find, atOnce } of asked) {
    if (!(await find())) continue;
    const names = namesOf(name);
    const survivors = await survivorsOf(names, brokenClient(name), atOnce);
    const of = mutants.filter((mutant) => names.has(mutant.name)).length;
    const killed = of - survivors.length;
    console.log(`${language}: ${killed} of ${of} broken clients are told, ${percent(killed, of)} %`);
    for (const survivor of survivors) console.log(`  ${survivor.name}: ${survivor.why}`);
    const notMade = Object.fromEntries(
      Object.entries(broken[name]).flatMap(([mutant, how]) =>
        typeof how === "string" ? [[mutant, how]] : [],
      ),
    );
    scores.push({ language, killed, of, survivors, notMade });
  }
  return scores;
}

/** Prints each row with the mutants that no other row tells of, and then the rows that tell of none alone. */
export async function printRows(asked: readonly ClientLanguage[]): Promise<void> {
  for (const { language, name, find } of asked) {
    if (!(await find())) continue;
    const failures = await failuresByMutant(namesOf(name), brokenClient(name, 32), 3);
    // A row is one for all operations.
    const rows = Object.entries(failures).map(
      ([mutant, ids]) => [mutant, new Set(ids.map((id) => id.split("/").slice(0, 2).join("/")))] as const,
    );
    const all = [...new Set(rows.flatMap(([, told]) => [...told]))].sort();
    const alone = (row: string): readonly string[] =>
      rows.flatMap(([mutant, told]) => (told.size === 1 && told.has(row) ? [mutant] : []));
    console.log(`${language}: rows that alone tell of a broken client`);
    for (const row of all) if (alone(row).length > 0) console.log(`  ${row}: ${alone(row).join(", ")}`);
    console.log(`Rows that tell of none alone: ${all.filter((row) => alone(row).length === 0).join(", ")}`);
    console.log(
      `No row tells of: ${rows.flatMap(([mutant, { size }]) => (size ? [] : [mutant])).join(", ")}`,
    );
  }
}

/** The mutants that are made in fewer than two languages, each with those it is made in. */
export function rareMutants(): readonly string[] {
  return mutants.flatMap(({ name }) => {
    const made = languages.filter((one) => namesOf(one.name).has(name)).map(({ language }) => language);
    return made.length < 2 ? [`${name}: ${made.join() || "none"}`] : [];
  });
}

function percent(killed: number, of: number): number {
  return Math.floor((killed / of) * 100);
}
