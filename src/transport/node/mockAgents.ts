import { isLoopback } from "../../options/arguments.js";
import { memberOf } from "../../values.js";
import { TransportFailure } from "../transport.js";

// Where undici keeps its global dispatcher: 8 in the first, and a wrapper that does not say what it wraps in the second.
const second = Symbol.for("undici.globalDispatcher.2");
const first = Symbol.for("undici.globalDispatcher.1");
const globals = globalThis as { readonly [name: symbol]: unknown };

/**
 * Lets nothing leave this machine while a test has undici's MockAgent answer for the network: it sees no request of node:http.
 * @throws TransportFailure
 */
export function refuseWhileMocked(url: URL): void {
  if (!isMock(globals[second]) && !isMock(globals[first])) return;
  if (isLoopback(url.hostname)) return;
  throw new TransportFailure(
    "A test has set undici's MockAgent, which does not see what this client sends with node:http.",
    {
      phase: "connect",
      reason: "agent",
      advice:
        "Pass a fetch to createClient: that of createTestService() in tunerank/testing, or undici's own for the answers of the MockAgent.",
    },
  );
}

// Asked before each request: `in` is cheap.
function isMock(dispatcher: unknown): boolean {
  if (typeof dispatcher !== "object" || dispatcher === null || !("isMockActive" in dispatcher)) return false;
  return memberOf(dispatcher, "isMockActive") === true;
}
