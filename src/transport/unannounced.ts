// How far a request of a dispatcher got that nobody announced the start of: interceptors may keep it to themselves.
import { subscribe } from "node:diagnostics_channel";
import { types } from "node:util";
import type { DispatcherLike } from "../options/clientOptions.js";
import { memberOf } from "../values.js";
import type { Controller } from "./legacyHandler.js";
import { isBeforeConnection } from "./node/networkErrors.js";
import { networkCode, type Phase } from "./transport.js";

// Whether a dispatcher was seen to announce starts.
const announces = new WeakMap<DispatcherLike, boolean>();

/** A request has started. */
export function sawStart(dispatcher: DispatcherLike): void {
  if (!announces.has(dispatcher)) announces.set(dispatcher, true);
}

/** A request was answered without a start. */
export function sawNoStart(dispatcher: DispatcherLike): void {
  announces.set(dispatcher, false);
}

/** What is known without an error: undici's own announce starts; one composed with interceptors, a proxy, has to show it. */
export function phaseWithoutStart(dispatcher: DispatcherLike): Phase {
  const isPlain = "compose" in dispatcher && !types.isProxy(dispatcher);
  return (announces.get(dispatcher) ?? isPlain) ? "connect" : "headers";
}

// Errors of connections that never came about: a reset in a TLS handshake looks like one after a request was sent.
const neverConnected = new WeakSet<object>();
subscribe("undici:client:connectError", (message) => {
  const error = memberOf(message, "error");
  if (typeof error === "object" && error !== null) neverConnected.add(error);
});

/** What an error adds. @param phase What is known without it. @param isEarly Whether `dispatch` had not yet returned. */
export function phaseAtError(error: Error, phase: Phase, isEarly: boolean): Phase {
  if (neverConnected.has(error) || isBeforeConnection(error)) return "connect";
  const isLost = /^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/.test(networkCode(error));
  if (isLost || /^(read|write)/.test(String(memberOf(error, "syscall")))) return "headers";
  return isEarly ? "connect" : phase;
}

/** Has undici not send a request that has ended. @param isTold Whether an error of the request was heard of. */
export function refuseStart(controller: Controller, isTold: () => boolean): void {
  const ended = new Error("The request was ended.");
  controller.abort(ended);
  // Interceptors such as `dump` keep that to themselves: what is thrown, undici itself takes.
  if (!isTold()) throw ended;
}
