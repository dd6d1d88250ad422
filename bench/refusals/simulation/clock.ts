import type { Clock } from "../../../src/policy/run.js";

interface Event {
  readonly at: number;
  /** Events of one time happen in the order in which they were set. */
  readonly number: number;
  run: (() => void) | undefined;
}

const isSooner = (a: Event, b: Event): boolean => a.at < b.at || (a.at === b.at && a.number < b.number);

/** Time that passes from event to event. The events are a binary heap; one that is cancelled stays until its time. */
export class EventClock implements Clock {
  #now = 0;
  #count = 0;
  readonly #heap: Event[] = [];

  now(): number {
    return this.#now;
  }

  after(ms: number, run: () => void): () => void {
    const event: Event = { at: this.#now + ms, number: this.#count++, run };
    const heap = this.#heap;
    let index = heap.length;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!isSooner(event, heap[parent] as Event)) break;
      heap[index] = heap[parent] as Event;
      index = parent;
    }
    heap[index] = event;
    return () => {
      event.run = undefined;
    };
  }

  /** Runs the next event. @returns false if there is none */
  next(): boolean {
    const event = this.#take();
    if (event === undefined) return false;
    if (event.run === undefined) return true;
    this.#now = event.at;
    event.run();
    return true;
  }

  #take(): Event | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return first;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child + 1 < heap.length && isSooner(heap[child + 1] as Event, heap[child] as Event)) child += 1;
      if (child >= heap.length || !isSooner(heap[child] as Event, last)) break;
      heap[index] = heap[child] as Event;
      index = child;
    }
    heap[index] = last;
    return first;
  }
}
