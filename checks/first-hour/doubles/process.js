import { call } from "./call.js";

console.log(await call(process.argv[2]));
process.exit();
