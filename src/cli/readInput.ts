import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { addAbortSignal, type Readable } from "node:stream";
import { UsageError, unreadable } from "./context.js";

// A pipe may never end.
const mostPipedBytes = 64 * 1024 * 1024;

/**
 * The bytes of a file, or of the standard input for `-`.
 * @param name What the command line calls the file. @throws UsageError when it cannot be read
 */
export async function readInput(file: string, name: string, signal: AbortSignal): Promise<Buffer> {
  if (file === "-") return readAll(addAbortSignal(signal, process.stdin), mostPipedBytes);
  return readFile(file, signal).catch((error) => {
    throw unreadable(name, error);
  });
}

async function readFile(file: string, signal: AbortSignal): Promise<Buffer> {
  const limit = (await stat(file)).isFile() ? Number.POSITIVE_INFINITY : mostPipedBytes;
  return readAll(addAbortSignal(signal, createReadStream(file)), limit);
}

async function readAll(stream: Readable, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength;
    if (bytes > limit) {
      throw new UsageError("The input is larger than 64 MiB: name a file, or send it in parts.");
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
