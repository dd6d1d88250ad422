import type { Transform, TransformCallback } from "node:stream";
import { Gunzip } from "node:zlib";

const working: Set<Transform> = new Set();

// Every decoder of node:zlib, over node:http and over fetch, takes its chunks by this one method, and works on other threads.
const decoder = Object.getPrototypeOf(Object.getPrototypeOf(Gunzip.prototype)) as Transform;
const { _transform: transform } = decoder;
decoder._transform = function (this: Transform, chunk, encoding, done: TransformCallback): void {
  working.add(this);
  transform.call(this, chunk, encoding, (...result) => {
    working.delete(this);
    done(...result);
  });
};

/** Whether a body is being unpacked. One that is given up, or that nobody reads on, is not. */
export function isUnpacking(): boolean {
  for (const stream of working) if (stream.destroyed) working.delete(stream);
  return [...working].some(
    ({ readableLength, readableHighWaterMark }) => readableLength < readableHighWaterMark,
  );
}
