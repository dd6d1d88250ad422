/**
 * The constructor of objects that inherit nothing. Engines keep the members of an Object.create(null) in a hash table:
 * reading and copying them costs several times more.
 */
export const WithoutPrototype = function Bare() {} as unknown as new <T extends object>() => T;
WithoutPrototype.prototype = Object.create(null);

/**
 * Reads a member of a value of unknown shape: its own or its class's, but not one that was added to Object.prototype.
 * Returns undefined also if reading throws, as a getter or a Proxy may.
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

/** Reads an object's own property: one that was added to Object.prototype counts as missing. */
export function ownValue<T extends object, Name extends keyof T>(value: T, name: Name): T[Name] | undefined {
  return Object.hasOwn(value, name) ? value[name] : undefined;
}

/**
 * Adds members to an object: fields like any other if they are `enumerable`, else constants that logs do not list. The
 * descriptors inherit nothing, because a polluted Object.prototype may have a `get` or `set`.
 */
export function define(
  target: object,
  values: Readonly<Record<string | symbol, unknown>>,
  enumerable = false,
): void {
  for (const name of Reflect.ownKeys(values)) {
    const descriptor = new WithoutPrototype() as PropertyDescriptor;
    descriptor.value = values[name as string];
    descriptor.enumerable = descriptor.writable = descriptor.configurable = enumerable;
    Object.defineProperty(target, name, descriptor);
  }
}

/** A member that sets the text which Node's `console.log` shows for an object. */
export function inspectedAs(show: () => string): object {
  return { [Symbol.for("nodejs.util.inspect.custom")]: show };
}

/** Returns the result of `make`, or `otherwise` if `make` throws, as it may when it reads an object of the caller. */
export function valueOr<T, Other = undefined>(make: () => T, otherwise?: Other): T | Other {
  try {
    return make();
  } catch {
    return otherwise as Other;
  }
}

/** A value as text; never throws. */
export function textFor(value: unknown): string {
  return valueOr(() => String(value), "It cannot be shown.");
}

/** An error's message, or that of its cause, which says more; never throws. */
export function wordsOf(error: unknown): string {
  return textFor(memberOf(memberOf(error, "cause"), "message") || memberOf(error, "message") || error);
}

/** Like `instanceof`, but false where that throws, as for a revoked Proxy. */
export function isInstance<T>(value: unknown, type: abstract new (...given: never[]) => T): value is T {
  return valueOr(() => value instanceof type, false);
}

// Read when the module loads: other code may replace Object.prototype.toString later.
const { toString: named } = Object.prototype;

/** The type name that Object.prototype.toString gives a value of any realm: "Blob" for "[object Blob]". */
export function tagOf(value: unknown): string {
  return named.call(value).slice(8, -1);
}

/** Parses a JSON text, with or without a byte order mark. Returns undefined if it is not valid JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.startsWith("\uFEFF") ? text.slice(1) : text);
  } catch {
    // The parser's error is dropped, because its message would quote the text.
    return undefined;
  }
}

/** Calls a caller's function with an event, without waiting for it, and ignores what it throws or rejects with. */
export function notify<E>(listener: ((event: E) => unknown) | undefined, event: E): void {
  if (listener === undefined) return;
  try {
    const returned = listener(event);
    if (returned !== undefined) Promise.resolve(returned).catch(() => {});
  } catch {}
}

export function urlOf(value: unknown): URL | undefined {
  // jsdom and older browsers have no URL.canParse.
  return valueOr(() => new URL(value as string));
}

/** Whether a URL's host name, or the address that a server listens on, stands for this machine. */
export function isLoopback(host: string): boolean {
  return /^(localhost|\[::1]|::1|127\.\d+\.\d+\.\d+)$/.test(host);
}

/** Whether an Origin header names a web page of another machine, or of no machine (`null`). */
export function isForeignOrigin(origin: string | undefined): boolean {
  return origin !== undefined && !isLoopback(urlOf(origin)?.hostname ?? "");
}

/** Whether a Host header names another machine, as when a web page's host name resolves to this one (DNS rebinding). */
export function isForeignHost(host: string | undefined): boolean {
  return isForeignOrigin(host && `http://${host}`);
}

// Not a Set: on Node 24 a long-lived Set keeps deleted members until a full collection, which is 7 % of a call's CPU.
/** Adds a member to an unordered list. `at` is the member's index. */
export function addTo<T extends { at: number }>(list: T[], member: T): void {
  member.at = list.push(member) - 1;
}

/** Removes a member from a list of {@link addTo}: the last member takes its place. */
export function removeFrom<T extends { at: number }>(list: T[], member: T): void {
  const last = list.pop() as T;
  last.at = member.at;
  if (last !== member) list[last.at] = last;
}

/** The names of all that is sent, which messages leave out of the path to a field. */
export const wholeParts: RegExp = /^(body|query|headers|parameters)$/;
