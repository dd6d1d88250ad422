// Runs checks of the package, in any runtime. Web interfaces only.

/**
 * Runs every check; `place` says what this runtime has.
 * @param checks What to check, by its name. @returns [name, undefined or what is wrong] for each
 */
export async function runChecks(checks, tunerank, baseUrl, place) {
  const results = [];
  const suffix = Math.random().toString(36).slice(2);
  const make = (options) =>
    tunerank.createClient({
      baseUrl,
      apiKey: "runtime-key",
      accountId: "acme",
      ...place.options,
      ...options,
    });
  const tools = {
    ...tunerank,
    place: { ...place, baseUrl },
    client: make(),
    make,
    id: (name) => `${name}-${suffix}`,
    received: async (id) => (await fetch(`${baseUrl}/requests/${id}`)).json(),
  };
  for (const [name, check] of Object.entries(checks)) {
    try {
      await within(30_000, check(tools));
      results.push([name]);
    } catch (error) {
      results.push([name, String(error?.stack ?? error)]);
    }
  }
  return results;
}

/** Bytes that differ from place to place. */
export function bytes(size) {
  return Uint8Array.from({ length: size }, (_, index) => (index * 31 + (index >> 8)) & 255);
}

/** What they have in common with what arrived. */
export async function sha256(data) {
  const digest = await crypto.subtle.digest("SHA-256", data);
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** What a call rejects with. */
export async function failure(call) {
  try {
    await call;
  } catch (error) {
    return error;
  }
  throw new Error("The call succeeded.");
}

/** Compares by JSON. */
export function equal(found, wanted) {
  const [a, b] = [JSON.stringify(found), JSON.stringify(wanted)];
  if (a !== b) throw new Error(`${a} is not ${b}`);
}

function within(ms, promise) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`Not settled in ${ms} ms.`)), ms);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
