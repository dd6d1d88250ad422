import { readFileSync } from "node:fs";
import { Agent } from "node:https";
import { createClient } from "tunerank";

const ca = readFileSync(process.env.CA_FILE ?? "/etc/ssl/company.pem");
const client = createClient({ agent: new Agent({ ca, keepAlive: true }) });

await client.deployments.scale("support-search", 2);
