/** A member of a value of unknown shape, its own or its class's; what others put on Object.prototype is none. */
export function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  for (let holder = value; holder && holder !== Object.prototype; holder = Object.getPrototypeOf(holder)) {
    if (Object.hasOwn(holder, name)) return (value as Record<string, unknown>)[name];
  }
  return undefined;
}
