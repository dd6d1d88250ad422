import type { DatasetFile } from "../index.js";

/** What is said of a file that is stored: its size only where the answer has one. */
export function storedLine(file: string, { bytes, id }: Partial<DatasetFile>): string {
  return typeof bytes === "number" ? `${file}: ${bytes} bytes, file ${id}.` : `${file}: file ${id}.`;
}
