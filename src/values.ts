// Values from outside, whose shape nobody has checked.

/** What inherits nothing. Members of Object.create(null) are kept in a table: to read and copy them costs several times more. */
export const WithoutPrototype = function Bare() {} as unknown as new () => object;
WithoutPrototype.prototype = Object.create(null);

/**
 * A member of a value of unknown shape, its own or its class's; what others put on Object.prototype is none. Undefined
 * also where it cannot be read: a getter or a Proxy may throw.
 */
export function memberOf(value: unknown, name: string | symbol): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  try {
    for (let holder = value; holder && holder !== Object.prototype; holder = Object.getPrototypeOf(holder)) {
      if (Object.hasOwn(holder, name)) return (value as Record<string | symbol, unknown>)[name];
    }
  } catch {}
  return undefined;
}

/** Gives an object members, which no log lists unless they are enumerable. The descriptors inherit nothing: Object.prototype may have a `get` or `set`. */
export function define(
  target: object,
  values: Readonly<Record<string | symbol, unknown>>,
  enumerable = false,
): void {
  for (const name of Reflect.ownKeys(values)) {
    const value = values[name as string];
    Object.defineProperty(target, name, { __proto__: null, value, enumerable } as PropertyDescriptor);
  }
}

/** The member by which an object says what `console.log` shows of it. */
export function inspectedAs(show: () => string): object {
  return { [Symbol.for("nodejs.util.inspect.custom")]: show };
}

/** What `make` comes to, or `otherwise` where it throws: no text that cannot be made changes a fact. */
export function valueOr<T>(make: () => T, otherwise: T): T {
  try {
    return make();
  } catch {
    return otherwise;
  }
}

/** A value as text; never throws. */
export function textFor(value: unknown): string {
  return valueOr(() => String(value), "It cannot be shown.");
}

/** `instanceof` that never throws, as it does for a Proxy that was revoked. */
export function isInstance<T>(value: unknown, type: abstract new (...given: never[]) => T): value is T {
  return valueOr(() => value instanceof type, false);
}

// Taken now: others may set another.
const { toString: named } = Object.prototype;

/** What Object.prototype.toString names a value of any realm: "Blob" of "[object Blob]". */
export function tagOf(value: unknown): string {
  return named.call(value).slice(8, -1);
}

/** What a JSON text holds, a byte order mark before it or not; undefined when it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.startsWith("\uFEFF") ? text.slice(1) : text);
  } catch {
    // The parser's message would quote the text: nothing of it is kept.
    return undefined;
  }
}

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

export function urlOf(value: unknown): URL | undefined {
  // jsdom and older browsers have no URL.canParse.
  try {
    return new URL(value as string);
  } catch {
    return undefined;
  }
}

/** Whether an address never leaves this machine. */
export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

/** Whether what listens on an address can be reached from this machine alone. */
export function isLoopbackAddress(address: string): boolean {
  return isLoopback(address.includes(":") ? `[${address}]` : address);
}

/** Whether an Origin header is that of a web page of another machine, or of no machine (`null`). */
export function isForeignOrigin(origin: string | undefined): boolean {
  return origin !== undefined && !isLoopback(urlOf(origin)?.hostname ?? "");
}

/** Whether a Host header names another machine, as it does for a web page whose name leads here (DNS rebinding). */
export function isForeignHost(host: string | undefined): boolean {
  return isForeignOrigin(host && `http://${host}`);
}
