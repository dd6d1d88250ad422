import { createClient } from "tunerank";

const client = createClient({ maxConnections: 16 });

await client.deployments.scale("support-search", 2);
await client.close();
