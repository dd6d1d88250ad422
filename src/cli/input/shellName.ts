// How a file is named in a shell command that a message advises.
import path from "node:path";
import { hasKey } from "../context.js";
import { oneLine } from "../terminal.js";

/** A file's name as a word of a shell command; `FILE` for a pipe, and for a name that may not or cannot be shown. */
export function shellName(file: string | undefined): string {
  if (!isShowable(file)) return "FILE";
  const name = file.startsWith("-") ? `./${file}` : file;
  return /^[\w./-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`;
}

/** A file's name as a string of SQL, its quotes included, that stands between double quotes of the shell. */
export function sqlName(file: string | undefined): string {
  const name = isShowable(file) ? file : "FILE";
  return `'${name.replaceAll("'", "''").replace(/[\\$`"]/g, "\\$&")}'`;
}

/** The name of a new file: another than the input's, which would be emptied before it is read. */
export function otherThanInput(name: string, file: string | undefined): string {
  return path.basename(file ?? "") === name ? `other-${name}` : name;
}

// Whether a message can show a file's name: messages lose control characters, and hide a name with the API key.
function isShowable(file: string | undefined): file is string {
  return file !== undefined && file !== "-" && !hasKey(file) && oneLine(file) === file;
}
