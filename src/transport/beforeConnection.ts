import { memberOf, textFor } from "../values.js";
import { networkCode, refusedByAlert } from "./transport.js";

// What Node's fetch and Bun's name a connection that never came to be, its TLS included.
const neverConnected =
  /^(ConnectionRefused|ECONNREFUSED|ENOTFOUND|EAI_.*|UND_ERR_CONNECT_TIMEOUT|CERT_.*|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_.*|ERR_TLS_CERT_ALTNAME_INVALID|ERR_SSL_(WRONG_VERSION_NUMBER|UNSUPPORTED_PROTOCOL|.*ALERT_PROTOCOL_VERSION))$/;

// The calls of the system that a connection is made with; what it is used with are read and write.
const connecting: ReadonlySet<unknown> = new Set(["connect", "getaddrinfo"]);

/** Whether an error by itself proves that no connection came about. */
export function isBeforeConnection(error: unknown): boolean {
  const code = networkCode(error);
  const cause = memberOf(error, "cause");
  // Trying every address of a name leaves one error for each.
  const first = memberOf(memberOf(cause, "errors"), "0") ?? cause ?? error;
  const syscall = memberOf(first, "syscall");
  return (
    (syscall === undefined ? neverConnected.test(code) : connecting.has(syscall)) ||
    refusedByAlert.test(code) ||
    /^Client network socket disconnected before secure TLS/.test(textFor(memberOf(cause, "message")))
  );
}
