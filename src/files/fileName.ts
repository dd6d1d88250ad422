import { invalid } from "../errors/statusError.js";
import { checkCharacters, checkString } from "../options/arguments.js";

/** The base name of a file's path, for either separator, as it may stand in a multipart header. */
export function checkFileName(value: unknown, what: string): string {
  checkString(value, what);
  const name = value.slice(Math.max(value.lastIndexOf("/"), value.lastIndexOf("\\")) + 1);
  if (name === "" || name === "." || name === "..") {
    throw invalid(`${what} has no base name: pass {name}.`);
  }
  return checkCharacters(name, what);
}
