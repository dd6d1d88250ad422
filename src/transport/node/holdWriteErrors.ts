import type { Socket } from "node:net";
import { networkCode } from "../transport.js";

const closed: ReadonlySet<string> = new Set(["EPIPE", "ECONNRESET"]);

type Done = (error?: Error | null) => void;

/**
 * Lets a failed write be known only when what the server sent before it closed has been read: one that refuses a
 * large body may answer and close at once, and Node drops an unread answer with the first write that fails.
 * @returns Ends it.
 */
export function holdWriteErrors(socket: Socket): () => void {
  const { _write, _writev } = socket;
  socket._write = (chunk, encoding, done) => _write.call(socket, chunk, encoding, held(done));
  if (_writev) socket._writev = (chunks, done) => _writev.call(socket, chunks, held(done));
  return () => {
    socket._write = _write;
    if (_writev) socket._writev = _writev;
  };
}

// Between two turns of the loop everything that has arrived is read. What TLS says of itself is known at once.
function held(done: Done): Done {
  return (error) => {
    if (closed.has(networkCode(error))) setImmediate(() => setImmediate(done, error));
    else done(error);
  };
}
