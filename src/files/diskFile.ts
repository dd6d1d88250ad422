import type { BigIntStats } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { invalid, refusal } from "../errors/statusError.js";
import { type FileSource, SourceError, type UrlLike } from "./fileSource.js";
import { checkFileName, fromStream } from "./openFile.js";

const readBytes = 1024 * 1024;

/** Opens a file by path. @throws StatusError when it cannot be read or is not a file */
export async function openPath(path: string | UrlLike, name: string | undefined): Promise<FileSource> {
  // getBuiltinModule, not import: Bun and Deno run the web build, and bundlers for the web do not know Node's modules.
  const { open, constants } = globalThis.process.getBuiltinModule("node:fs/promises");
  const filePath = typeof path === "string" ? path : localPath(path);
  // With O_NONBLOCK (not on Windows), opening a named pipe does not wait until something writes to it.
  const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
  const handle = await open(filePath, flags).catch((cause) => refuseToOpen(filePath, cause));
  try {
    const opened = await handle.stat({ bigint: true });
    if (!opened.isFile()) throw notOneFile(filePath, opened.isDirectory());
    const size = Number(opened.size);
    const check = (): Promise<void> => checkUnchanged(handle, opened);
    return {
      name: name ?? checkFileName(filePath, "file"),
      size,
      type: "",
      replayable: true,
      blob: undefined,
      isOnDisk: true,
      check,
      chunks: () => readAhead(handle, size, check),
      close: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

// Compares mtime, not ctime: a new name or other permissions do not change the content.
async function checkUnchanged(handle: FileHandle, { size, mtimeNs }: BigIntStats): Promise<void> {
  const now = await handle.stat({ bigint: true });
  if (now.size === size && now.mtimeNs === mtimeNs) return;
  const found = now.size === size ? "was written to" : `has ${now.size}`;
  const message = `The file changed after the call began: it had ${size} bytes and ${found} since.`;
  throw new SourceError("FAILED_PRECONDITION", message);
}

function localPath(url: UrlLike): string {
  try {
    return globalThis.process.getBuiltinModule("node:url").fileURLToPath(url.href);
  } catch (cause) {
    throw invalid("file", `file is a URL that names no file here: ${(cause as Error).message}.`, { cause });
  }
}

// Double buffering: while one buffer is sent the other is filled. A chunk is valid until the next chunk is requested.
async function* readAhead(
  handle: FileHandle,
  size: number,
  check: () => Promise<void>,
): AsyncGenerator<Uint8Array> {
  const buffers = [Buffer.allocUnsafe(readBytes), Buffer.allocUnsafe(readBytes)] as const;
  let position = 0;
  const fill = (turn: number): Promise<Uint8Array> => {
    const buffer = buffers[turn % 2] as Buffer;
    const filled = handle.read(buffer, 0, readBytes, position).then(({ bytesRead }) => {
      position += bytesRead;
      return buffer.subarray(0, bytesRead);
    });
    // Awaited once the previous chunk was sent: until then a failure must not count as unhandled.
    filled.catch(() => {});
    return filled;
  };
  let next = fill(0);
  try {
    for (let turn = 1; ; turn++) {
      const chunk = await next;
      // The whole file has been read before its last chunk is sent, so a later write cannot change what is sent.
      const last = position >= size || chunk.byteLength === 0;
      if (last) await check();
      else next = fill(turn);
      if (chunk.byteLength > 0) yield chunk;
      if (last) return;
    }
  } finally {
    // The read in flight must end before the file is closed; its failure no longer matters.
    await next.catch(() => {});
  }
}

// Escapes the characters that a terminal would act on, as JSON does, but does not double the backslashes of Windows.
function quoted(path: string): string {
  return JSON.stringify(path).replaceAll("\\\\", "\\");
}

function notOneFile(path: string, isFolder: boolean): Error {
  const what = isFolder ? "a folder" : "not a regular file";
  return invalid("file", `file ${quoted(path)} is ${what}: pass the path of one file.`);
}

// Codes of a lack or a fault of this machine: the file may be right, and can be opened later.
const machineFailed = /^(EMFILE|ENFILE|EIO|ESTALE|ENOMEM|EAGAIN|EBUSY|ETIMEDOUT)$/;

function refuseToOpen(path: string, cause: NodeJS.ErrnoException): never {
  const { code = "" } = cause;
  // ENXIO: a socket.
  if (/^(EISDIR|ENXIO)$/.test(code)) throw notOneFile(path, code === "EISDIR");
  if (machineFailed.test(code))
    throw refusal("UNAVAILABLE", "file", `This machine cannot open file ${quoted(path)} now (${code}).`, {
      hint: "Close other files and connections of this process, or look at the disk, and call again.",
      cause,
    });
  throw invalid("file", `file ${quoted(path)} ${openFailure(path, cause)}.`, { cause });
}

function openFailure(path: string, { code, name }: NodeJS.ErrnoException): string {
  if (code === "ENOENT") return `does not exist (looked for in ${quoted(globalThis.process.cwd())})`;
  // Node and Deno grant permissions when a program starts, so the message names the flag.
  if (code === "ERR_ACCESS_DENIED") return `may not be read: start Node with --allow-fs-read=${path}`;
  if (name === "NotCapable") return `may not be read: start Deno with --allow-read=${path}`;
  if (code === "EACCES" || code === "EPERM") return "may not be read by this user";
  return `cannot be opened (${code ?? "unknown reason"})`;
}

/** Returns the file source of a Blob whose bytes may be on disk, such as that of Bun.file. @throws StatusError */
export async function openBlob(blob: Blob, source: FileSource, size?: number): Promise<FileSource> {
  // Bun reports no size for a pipe (Bun.stdin) or for a file in remote storage.
  if (!Number.isFinite(blob.size)) return fromStream(blob.stream(), source.name, size);
  // Bun.file reports size 0 also for a file that does not exist.
  if (blob.size === 0)
    await blob.arrayBuffer().catch((cause: Error) => {
      throw invalid("file", `file cannot be read: ${cause.message}.`, { cause });
    });
  return source;
}
