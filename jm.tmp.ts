import { brokenClient, failuresOf, mutants } from "./test/support/conformance/mutants.js";
const run = brokenClient("java");
for (const name of process.argv.slice(2)) {
  const m = mutants.find((x) => x.name === name)!;
  const f = await failuresOf(m.rows, (u) => run(u, name));
  console.log(name, m.rows.join(","), f.map((x) => `${x.result}: ${x.differences[0]}`).join(" | ") || "LIVES");
}
process.exit(0);
