// Ends with the first answer.
import { small } from "../bodies.js";

const [client, baseUrl] = process.argv.slice(2);
const { open } = await import(`../clients/${client}.js`);
const answer = await open(baseUrl).rerank(small);
process.exit(answer ? 0 : 1);
