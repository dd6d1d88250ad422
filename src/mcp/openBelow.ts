import { constants } from "node:fs";
import { open, readlink, realpath, stat } from "node:fs/promises";
import path from "node:path";
import { invalid, type StatusError } from "../errors/statusError.js";

/** A file that a tool was asked to upload: what is sent is the handle that was judged, never its name again. */
interface OpenedFile {
  readonly path: string;
  /** The file as the person sees it: its real name, size and time. */
  readonly shown: string;
  readonly options: Readonly<{ name: string; size: number }>;
  stream(): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

/** Opens a file whose real name is below a folder. @throws StatusError, the same one whatever stands elsewhere */
export async function openBelow(root: string, given: unknown): Promise<OpenedFile> {
  const refused = (): StatusError =>
    invalid("file", `file must be the path of a file below ${root}.`, { notRetried: "refused" });
  const named = path.resolve(root, `${given}`);
  // Not blocking, because a named pipe opens only when somebody writes to it.
  const handle = await open(named, constants.O_RDONLY | constants.O_NONBLOCK).catch(() => {
    throw refused();
  });
  try {
    // The name of the handle itself, where the system tells it: a path may lead elsewhere a moment later.
    const own = process.platform === "linux" ? readlink(`/proc/self/fd/${handle.fd}`) : realpath(named);
    const [real, folder] = await Promise.all([own, realpath(root)]);
    const [sent, there] = await Promise.all([handle.stat(), stat(real)]);
    const isSame = sent.ino === there.ino && sent.dev === there.dev;
    if (!isSame || !sent.isFile() || !real.startsWith(path.join(folder, path.sep))) throw refused();
    return {
      path: real,
      shown: `${real} (${sent.size} bytes, of ${sent.mtime.toISOString()})`,
      options: { name: path.basename(real), size: sent.size },
      stream: () => handle.createReadStream({ autoClose: false, start: 0 }),
      close: () => handle.close(),
    };
  } catch {
    await handle.close();
    throw refused();
  }
}
