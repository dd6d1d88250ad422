// The turns of the event loop, each of which reads what has arrived.

type Turn = (run: () => void) => unknown;

interface Port {
  onmessage: (() => void) | null;
  postMessage(message: unknown): void;
  close(): void;
}

// Taken when this is loaded: tests put others in their place.
const {
  setImmediate,
  MessageChannel: Channel,
  setTimeout,
} = globalThis as unknown as {
  setImmediate?: Turn;
  MessageChannel?: new () => { readonly port1: Port; readonly port2: Port };
  setTimeout: Turn;
};

/** Calls `run` after what has arrived is read. */
export const nextTurn: Turn = setImmediate ?? (Channel ? byMessage : setTimeout);

function byMessage(run: () => void): void {
  const { port1, port2 } = new (Channel as NonNullable<typeof Channel>)();
  port1.onmessage = () => {
    port1.close();
    run();
  };
  port2.postMessage(0);
}

// A timer that fires so much too late was kept from it by a busy loop, or by a process that stood still.
const lateMs = 2;
const longestMs = 250;

/** Whether a timer fired late: what arrived in time may be unread. */
export function isLate(dueAt: number, now: number): boolean {
  return now - dueAt > lateMs;
}

/**
 * Calls `end` after the first turn that brings nothing, or after 250 ms.
 * @param arrived A number that changes with whatever arrives, NaN while it cannot be known; undefined to wait no longer
 */
export function readOn(arrived: () => number | undefined, end: () => void): void {
  const until = performance.now() + longestMs;
  let seen = arrived();
  const look = (): void => {
    const found = arrived();
    if (found === undefined || found === seen || performance.now() > until) {
      end();
      return;
    }
    seen = found;
    nextTurn(look);
  };
  nextTurn(look);
}
