// The ES module and the CommonJS one in one program: two copies of the package, as when two versions are installed.
import { runNode } from "./tool.js";

const program = `
  import { createRequire } from "node:module";
  import * as imported from "tunerank";
  const { resolve } = createRequire(import.meta.url + "/x.js");
  const required = await import(resolve("tunerank"));
  const errorOf = ({ createClient }) => {
    try { createClient({ baseUrl: "x" }); } catch (error) { return error; }
  };
  class Mine extends imported.StatusError {}
  const found = [
    imported.StatusError !== required.StatusError,
    imported.isStatusError(errorOf(required), "INVALID_ARGUMENT"),
    required.isStatusError(errorOf(imported), "INVALID_ARGUMENT"),
    errorOf(required) instanceof imported.StatusError,
    errorOf(imported) instanceof required.StatusError,
    !(errorOf(required) instanceof Mine),
    !(errorOf(imported) instanceof Mine),
    !(new Error("x") instanceof imported.StatusError),
  ];
  console.log(found.every(Boolean) ? "all" : found.join());`;

/** Each knows the other's errors, and subclasses are told apart. */
export async function checkCopies(user: string): Promise<string> {
  const printed = await runNode(["--input-type=module", "-e", program], user);
  if (printed !== "all\n") throw new Error(printed);
  return "isStatusError and instanceof know the errors of either";
}
