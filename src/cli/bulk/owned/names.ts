import { lstatSync, readlinkSync, realpathSync, type Stats } from "node:fs";
import path from "node:path";
import { reasonOf, UsageError } from "../../context.js";

/** The one name of a file, also of one that is not there yet: two names may mean one file. @throws UsageError */
export function realName(file: string): string {
  let stats: Stats | undefined;
  try {
    stats = lstatSync(file, { throwIfNoEntry: false });
    if (stats === undefined) return path.join(realpathSync(path.dirname(file)), path.basename(file));
    return realpathSync(file);
  } catch (error) {
    const failure = error as NodeJS.ErrnoException;
    // A link to what is not there yet.
    if (stats?.isSymbolicLink() && failure.code === "ENOENT")
      return realName(path.resolve(path.dirname(file), readlinkSync(file)));
    throw new UsageError(`The folder of a file cannot be found: ${reasonOf(failure)}.`);
  }
}
