/** Results on their way out: as they come, or in the order of their numbers. */
export interface Outbox<T> {
  readonly size: number;
  add(number: number, result: T): void;
  /** The next result; undefined while there is none. @param last Whether those before it will never come */
  take(last: boolean): T | undefined;
}

/** Hands results out as they come. */
export function asTheyCome<T>(): Outbox<T> {
  let first = 0;
  let results: T[] = [];
  return {
    get size() {
      return results.length - first;
    },
    add: (_number, result) => void results.push(result),
    take() {
      if (first === results.length) return undefined;
      const result = results[first] as T;
      first += 1;
      // Taking from the front of a list moves all the others.
      if (first === results.length || first === 1024) {
        results = results.slice(first);
        first = 0;
      }
      return result;
    },
  };
}

/** Hands results out by their numbers, from 0 on. */
export function inOrder<T>(): Outbox<T> {
  const results = new Map<number, T>();
  let next = 0;
  return {
    get size() {
      return results.size;
    },
    add: (number, result) => void results.set(number, result),
    take(last) {
      if (last && results.size > 0 && !results.has(next)) next = Math.min(...results.keys());
      const result = results.get(next);
      if (result !== undefined) results.delete(next++);
      return result;
    },
  };
}
