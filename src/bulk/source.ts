import { invalid } from "../errors/statusError.js";

/** Where the requests of a run come from, one after the other. */
export interface Source<T> {
  next(): IteratorResult<T> | Promise<IteratorResult<T>>;
  /** Tells an iterator that nothing more is wanted of it. */
  close(): Promise<void>;
}

/** Opens an iterable, or an async one, when its first element is asked for. @throws StatusError for anything else */
export function sourceOf<T>(iterable: Iterable<T> | AsyncIterable<T>): Source<T> {
  const start = starterOf(iterable);
  if (start === undefined) throw invalid("requests must be an iterable or an async iterable.");
  let iterator: Iterator<T> | AsyncIterator<T> | undefined;
  return {
    next() {
      iterator ??= start();
      return iterator.next();
    },
    async close() {
      await iterator?.return?.();
    },
  };
}

function starterOf<T>(
  iterable: Iterable<T> | AsyncIterable<T>,
): (() => Iterator<T> | AsyncIterator<T>) | undefined {
  if (typeof iterable !== "object" || iterable === null) return undefined;
  const { [Symbol.asyncIterator]: ofAsync } = iterable as Partial<AsyncIterable<T>>;
  if (typeof ofAsync === "function") return () => ofAsync.call(iterable);
  const { [Symbol.iterator]: ofSync } = iterable as Partial<Iterable<T>>;
  return typeof ofSync === "function" ? () => ofSync.call(iterable) : undefined;
}
