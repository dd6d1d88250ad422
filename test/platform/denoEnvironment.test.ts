import { afterEach, describe, expect, test, vi } from "vitest";
import { permissionFor, readVariable } from "../../src/platform/server.js";

const variable = "TUNERANK_API_KEY";
const refuse = (): never => {
  throw new Error(`Requires env access to "${variable}", run again with the --allow-env flag`);
};

// As Deno's process.env is; checks/runtimes has Deno itself, with --allow-net alone.
function stub(state: "granted" | "denied" | "prompt"): { readonly asked: string[] } {
  const asked: string[] = [];
  const env = new Proxy(
    { [variable]: "key-of-environment" },
    {
      getOwnPropertyDescriptor(target, name) {
        asked.push(String(name));
        return state === "denied" ? refuse() : Reflect.getOwnPropertyDescriptor(target, name);
      },
    },
  );
  vi.stubGlobal("Deno", { permissions: { querySync: () => ({ state }) } });
  vi.stubGlobal("process", { env });
  return { asked };
}

afterEach(() => vi.unstubAllGlobals());

describe("on Deno", () => {
  test("a variable that may be read is read, and needs no flag", () => {
    stub("granted");
    expect(readVariable(variable, false)).toBe("key-of-environment");
    expect(permissionFor([variable])).toBe("");
  });

  test("a variable that may not be read counts as unset, and the flag that allows it is named", () => {
    stub("denied");
    expect(readVariable(variable, true)).toBeUndefined();
    expect(permissionFor([variable])).toContain(`--allow-env=${variable}`);
  });

  test("the user is asked for what a call needs, and for nothing else", () => {
    const { asked } = stub("prompt");
    expect(readVariable(variable, false)).toBeUndefined();
    expect(asked).toEqual([]);
    expect(readVariable(variable, true)).toBe("key-of-environment");
    expect(asked).toContain(variable);
  });
});
