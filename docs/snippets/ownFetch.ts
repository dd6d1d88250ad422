import { createClient } from "tunerank";

const client = createClient({ fetch: globalThis.fetch });

await client.deployments.scale("support-search", 2);
