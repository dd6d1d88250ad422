// The error after another program changed the checkpoint of uploads: it names the files that would be sent again.
import { readFileSync } from "node:fs";
import type { Row } from "../checkpoints/readRows.js";
import type { FileChanged } from "../checkpoints/rescueFile.js";
import { hasKey, orUndefined } from "../context.js";
import { counted } from "../terminal.js";
import { uploadStateOf } from "./uploadPlan.js";

const mostNames = 10;

/**
 * The error to throw if the checkpoint was changed: it names the files that the same command would send again.
 * @param sent The files that are stored, or may be, by their ids in the checkpoint
 */
export function namingLost(error: FileChanged, sent: ReadonlyMap<string, string>): Error {
  const rows = new Map([error.path, error.rescued].flatMap(rowsIn).map((row) => [`${row.id}`, row]));
  const lost = [...sent].filter(([id]) => uploadStateOf(rows.get(id)) === "not").map(([, file]) => file);
  if (lost.length === 0) return error;
  const [were, have, it, these] =
    lost.length === 1 ? ["was", "has", "it", "this file"] : ["were", "have", "them", "these files"];
  const names = lost.slice(0, mostNames).map((file) => (hasKey(file) ? "FILE" : file));
  const others = lost.length > mostNames ? ` and ${lost.length - mostNames} more` : "";
  return new Error(
    `${error.facts} ${counted(lost.length, "file")} ${were} sent already and ${have} no row any more: ${names.join(", ")}${others}. The same command would upload ${it} a second time: restore the checkpoint from a copy first, or leave ${these} out of the command.`,
    { cause: error },
  );
}

// Reads the rows of a file as it is now. Lines that are no JSON are skipped.
function rowsIn(file: string | undefined): readonly Row[] {
  const text = orUndefined(() => readFileSync(file ?? "", "utf8")) ?? "";
  return text.split("\n").flatMap((line) => orUndefined<Row>(() => JSON.parse(line)) ?? []);
}
