// Serves the contract's examples with Prism, on port 4010 or --port N, until Ctrl-C.
import { parseArgs } from "node:util";
import { startMock } from "./startMock.js";

const { values } = parseArgs({ options: { port: { type: "string", default: "4010" } } });
const mock = await startMock({ port: Number(values.port) });
console.log(`The mock responds with the contract's examples on ${mock.url}; Ctrl-C ends it.`);
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => void mock.stop().then(() => process.exit(0)));
}
