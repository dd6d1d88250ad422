// Ends with the first response.
import { small } from "../bodies.js";

const [client, baseUrl] = process.argv.slice(2);
const { open } = await import(`../clients/${client}.js`);
const response = await open(baseUrl).rerank(small);
process.exit(response ? 0 : 1);
