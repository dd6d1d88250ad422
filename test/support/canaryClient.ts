import type { AttemptEvent, Client } from "../../src/index.js";
import { see } from "./canaryWatch.js";

type Method = (...given: unknown[]) => unknown;

/** The client, with every event and every `withResponse` result it hands out seen by the watch. */
export function watched(client: Client): Client {
  return watchedObject(client) as Client;
}

function watchedObject(value: object): object {
  return new Proxy(value, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member === "function") return watchedMethod(target, member as Method);
      return typeof member === "object" && member !== null ? watchedObject(member) : member;
    },
  });
}

function watchedMethod(target: object, method: Method): Method {
  const call: Method = (...given) => {
    const result = method.apply(target, given.map(watchedOptions));
    if (typeof result !== "object" || result === null) return result;
    if ("withResponse" in result) return watchedCall(result as { withResponse: () => Promise<unknown> });
    return "withOptions" in result ? watchedObject(result) : result;
  };
  // Some methods have methods of their own.
  const members = Object.entries(method).map(([name, own]) => [name, watchedMethod(method, own as Method)]);
  return Object.assign(call, Object.fromEntries(members));
}

function watchedCall(call: { withResponse: () => Promise<unknown> }): object {
  const { withResponse } = call;
  return Object.assign(call, {
    async withResponse() {
      const response = await withResponse();
      see("a withResponse result", response);
      return response;
    },
  });
}

/** Options whose `onAttempt` is seen; everything else, an option that is a getter included, stays as it is. */
export function watchedOptions<T>(options: T): T {
  if (typeof options !== "object" || options === null) return options;
  const descriptor = Object.getOwnPropertyDescriptor(options, "onAttempt");
  const onAttempt: unknown = descriptor?.value;
  if (typeof onAttempt !== "function") return options;
  const value = (event: AttemptEvent): unknown => {
    see("an event", event);
    return onAttempt(event);
  };
  const others = Object.getOwnPropertyDescriptors(options);
  return Object.create(Object.getPrototypeOf(options), { ...others, onAttempt: { ...descriptor, value } });
}
