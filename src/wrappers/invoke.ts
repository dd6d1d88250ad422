import { makeCall } from "../call/call.js";
import { prepare } from "../call/request.js";
import { type ClientConfig, callSettings } from "../call/settings.js";
import type { CallSettings, CallSpec, Outcome } from "../call/types.js";
import type { OperationId } from "../generated/contract.js";
import { ownProperties } from "../options/arguments.js";
import type { CallOptions } from "../options/callOptions.js";
import { callOptionTable } from "../options/table.js";

/** The options of one call, copied and checked. @throws StatusError */
export function ownOptions(options: CallOptions | undefined): CallOptions {
  return ownProperties(options, "options", callOptionTable);
}

/**
 * Makes one call of an operation. Nothing is sent before what `specOf` makes of its options is checked.
 * @param own Copied and checked. @throws StatusError
 */
export function invoke<T>(
  client: ClientConfig,
  operation: OperationId,
  own: CallOptions,
  specOf: (settings: CallSettings) => CallSpec<T>,
): Promise<Outcome<T>> {
  const settings = callSettings(client, own, operation);
  return makeCall(prepare(settings, specOf(settings)), settings);
}
