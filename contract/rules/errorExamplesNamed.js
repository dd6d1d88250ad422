import { codeStatuses } from "./codeStatuses.js";

// The mock is asked for a code by the name of its example, so name, code and status have to belong together.
export function errorExamplesNamed() {
  const seen = new Set();
  let statuses = {};

  function check(status, response, location, ctx) {
    const expected = Object.keys(statuses).filter((code) => String(statuses[code]) === status);
    for (const [type, { examples = {} }] of Object.entries(response.content ?? {})) {
      // Only JSON carries a code; the other types are what proxies send.
      if (type !== "application/json") continue;
      const at = location.child(["content", type, "examples"]);
      for (const code of expected.filter((code) => examples[code] === undefined)) {
        ctx.report({
          message: `${status} has no example for ${code}. Add one named ${code}.`,
          location: at.key(),
        });
      }
      for (const [name, example] of Object.entries(examples)) {
        if (expected.includes(name) && example.value?.code === name) continue;
        ctx.report({
          message: `Example "${name}" does not fit ${status}. Name it ${expected.join(" or ")} and give its value that same code.`,
          location: at.child(name).key(),
        });
      }
    }
  }

  return {
    Root(root) {
      statuses = codeStatuses(root);
    },
    Responses(responses, ctx) {
      for (const [status, entry] of Object.entries(responses)) {
        if (!/^[45]\d\d$/.test(status)) continue;
        const { node, location } = entry.$ref
          ? ctx.resolve(entry)
          : { node: entry, location: ctx.location.child(status) };
        const id = `${status} ${location?.absolutePointer}`;
        if (node === undefined || seen.has(id)) continue;
        seen.add(id);
        check(status, node, location, ctx);
      }
    },
  };
}
