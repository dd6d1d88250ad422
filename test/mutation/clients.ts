// The clients of contract/conformance, broken in each of the ways of mutants.json that their language has.
import { findGo, findPhp, findPython, type Language } from "../support/conformance/clients.js";
import { brokenClient, mutants, namesOf, survivorsOf } from "../support/conformance/mutants.js";

/** A language whose client is broken. */
interface BrokenLanguage {
  readonly language: string;
  readonly name: Language;
  /** Whether this machine has what the client needs. */
  readonly find: () => Promise<unknown>;
}

/** Every language that has broken clients. */
export const languages: readonly BrokenLanguage[] = [
  { language: "Python", name: "python", find: findPython },
  { language: "Go", name: "go", find: findGo },
  { language: "PHP", name: "php", find: findPhp },
];

/** Runs the broken clients of languages, and prints which of them no row tells. @returns How many survive of each that ran */
export async function survivorsIn(asked: readonly BrokenLanguage[]): Promise<readonly number[]> {
  const counts: number[] = [];
  for (const { language, name, find } of asked) {
    if (!(await find())) continue;
    const names = namesOf(name);
    const survivors = await survivorsOf(names, brokenClient(name), 6);
    const killed = names.size - survivors.length;
    const percent = Math.floor((killed / names.size) * 100);
    console.log(`${language}: ${killed} of ${names.size} broken clients are told, ${percent} %`);
    for (const survivor of survivors) console.log(`  ${survivor.name}: ${survivor.why}`);
    counts.push(survivors.length);
  }
  return counts;
}

/** The mutants that are made in fewer than two languages, each with those it is made in. */
export function rareMutants(): readonly string[] {
  return mutants.flatMap(({ name }) => {
    const made = languages.filter((one) => namesOf(one.name).has(name)).map(({ language }) => language);
    return made.length < 2 ? [`${name}: ${made.join() || "none"}`] : [];
  });
}
