import { loaded, startCall } from "../call/callPromise.js";
import type { LateSettings } from "../call/settings.js";
import type { EncodedCall, RequestOptions, ServiceCall, ServiceRequest } from "./types.js";

/** @internal Makes {@link ServiceCall} with a client's settings. */
export function createRequest(client: LateSettings): ServiceCall {
  return <T>(request: ServiceRequest, options?: RequestOptions) =>
    startCall<T>("request", client, async () => (await late()).sendAny<T>(client, request, options));
}

/** @internal Makes {@link EncodedCall} with a client's settings. */
export function createEncodedCall(client: LateSettings): EncodedCall {
  return (...given) => startCall("request", client, async () => (await late()).sendEncoded(client, ...given));
}

// Few programs need it: it is loaded with the first such request.
const late = () => loaded(import("./anyRequest.js"));
