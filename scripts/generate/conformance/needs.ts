// What a client must be able to do before a row says anything about it.
import type { RetryRow } from "./rows.js";

// HTTP libraries hide these: fetch makes a lost connection of the first two, and sends a third time what 421 refused.
const hiddenStatuses: ReadonlySet<number> = new Set([101, 407, 421]);

/** The names of what a row needs, besides plain calls with `maxRetries`. README.md says what each means. */
export function needsOf({ client = {}, server }: RetryRow): readonly string[] {
  const steps = "sequence" in server ? server.sequence : [server];
  const named = [
    client.apiKey && "key-function",
    client.repeatable !== undefined && "repeatable",
    client.abort && "abort",
    client.timeoutMs !== undefined && "timeout",
    client.attemptTimeoutMs !== undefined && "attempt-timeout",
    client.connectTimeoutMs !== undefined && "connect-timeout",
    ...steps.flatMap((step) => {
      if ("answer" in step) return hiddenStatuses.has(step.answer.status) && `status-${step.answer.status}`;
      return "network" in step && ofNetwork(step.network);
    }),
  ].filter((name) => typeof name === "string");
  return [...new Set(named)];
}

function ofNetwork(network: string): string | undefined {
  if (network === "tls-certificate-wanted") return "ca-certificate";
  return network.startsWith("tunnel-") ? "proxy" : undefined;
}
