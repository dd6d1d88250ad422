/** Tells a caller's function of an event, without waiting for it: neither its throw nor its rejection changes a call. */
export function notify<E>(listener: ((event: E) => unknown) | undefined, event: E): void {
  if (listener === undefined) return;
  try {
    const returned = listener(event);
    if (returned !== undefined) Promise.resolve(returned).catch(ignore);
  } catch {
    // Ignored, as a rejection is.
  }
}

function ignore(): void {}
