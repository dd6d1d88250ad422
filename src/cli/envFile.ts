import { parseEnv } from "node:util";
import { UsageError } from "./context.js";

/**
 * The variables of an env file, as Node's own parser reads them.
 * @param file The file's name in an error
 * @throws UsageError if a quote is not closed: Node drops such a variable in the last line, and elsewhere reads the
 * quote as a part of the value
 */
export function variablesIn(text: string, file: string): Readonly<Record<string, string | undefined>> {
  const variables = parseEnv(text);
  const values = Object.values(variables).filter((value) => value?.includes("\n")) as string[];
  // Values of several lines are blanked first: a line within such a value may look like a variable.
  const without = values.reduce((rest, value) => rest.replace(value, value.replace(/.+/g, "")), text);
  for (const [index, line] of without.split("\n").entries()) {
    const [, name = "", quote = ""] = /^\s*(?:export\s+)?(TUNERANK_\w+)\s*=\s*(["'`])/.exec(line) ?? [];
    const value = variables[name];
    const isOpen = value === undefined || value.startsWith(quote);
    if (name !== "" && isOpen && line.split(quote).length === 2)
      throw new UsageError(
        `${file}, line ${index + 1}: the quote around the value of ${name} is not closed.`,
      );
  }
  return variables;
}
