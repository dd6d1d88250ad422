import dns, { type LookupAddress, type LookupAllOptions } from "node:dns";
import { isIPv6 } from "node:net";
import { afterEach, beforeEach } from "vitest";

type Found = (error: Error | null, addresses: readonly LookupAddress[]) => void;

/** A name that this process finds at addresses of the test's, in their order. */
export class HostAddresses {
  readonly host = "service.test";
  addresses: readonly string[] = [];
  /** Whether they are found within the call, as a cache of addresses may do. */
  atOnce = false;
}

/** One for the tests of the calling file: it takes the place of the system's lookup, of this name only. */
export function useHostAddresses(): HostAddresses {
  const name = new HostAddresses();
  const { lookup } = dns;
  beforeEach(() => {
    const found = () => name.addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
    const find = (host: string, options: LookupAllOptions, done: Found): void => {
      if (host !== name.host) (lookup as unknown as typeof find)(host, options, done);
      else if (name.atOnce) done(null, found());
      else setImmediate(done, null, found());
    };
    dns.lookup = find as typeof dns.lookup;
  });
  afterEach(() => {
    dns.lookup = lookup;
  });
  return name;
}
