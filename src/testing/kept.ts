import type { TestRequest } from "./types.js";

const mostBodyBytes = 64 * 1024 * 1024;

/** The requests of a service, as many of the last as are kept. */
export class Kept {
  readonly list: TestRequest[] = [];
  /** How many there were. */
  count = 0;
  readonly #limit: number;
  readonly #sizes: number[] = [];
  #bytes = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** @param bytes The size of what is kept of the body. */
  add(request: TestRequest, bytes: number): void {
    this.list.push(request);
    this.#sizes.push(bytes);
    this.#bytes += bytes;
    this.count++;
    if (this.#limit === Number.POSITIVE_INFINITY) return;
    while (this.list.length > this.#limit || this.#bytes > mostBodyBytes) {
      this.list.shift();
      this.#bytes -= this.#sizes.shift() ?? 0;
    }
  }

  clear(): void {
    this.list.length = this.#sizes.length = this.#bytes = this.count = 0;
  }
}
