/** What is told of a connection's requests, each by its number from 1. */
export interface RequestEvents {
  headers(number: number): void;
  request(number: number): void;
}

const headEnd = "\r\n\r\n";

/** Finds where requests begin and end in the bytes of one connection. */
export class RequestReader {
  readonly #events: RequestEvents;
  #number = 0;
  #head: Buffer = Buffer.alloc(0);
  /** Bytes of the body still to come; undefined between requests. */
  #missing: number | undefined;

  constructor(events: RequestEvents) {
    this.#events = events;
  }

  take(bytes: Buffer): void {
    for (let left: Buffer | undefined = bytes; left !== undefined && left.byteLength > 0; ) {
      left = this.#missing === undefined ? this.#takeHead(left) : this.#takeBody(left, this.#missing);
    }
  }

  #takeHead(bytes: Buffer): Buffer | undefined {
    const all = Buffer.concat([this.#head, bytes]);
    const end = all.indexOf(headEnd);
    this.#head = end < 0 ? all : Buffer.alloc(0);
    if (end < 0) return undefined;
    const length = /^content-length: *(\d+)\r?$/im.exec(all.toString("latin1", 0, end + 2))?.[1];
    this.#number += 1;
    this.#events.headers(this.#number);
    return this.#takeBody(all.subarray(end + headEnd.length), Number(length ?? 0));
  }

  #takeBody(bytes: Buffer, missing: number): Buffer {
    if (bytes.byteLength < missing) {
      this.#missing = missing - bytes.byteLength;
      return bytes.subarray(bytes.byteLength);
    }
    this.#missing = undefined;
    this.#events.request(this.#number);
    return bytes.subarray(missing);
  }
}
