import { createClient } from "tunerank";

const logger = {
  debug: console.log,
  info: console.log,
  warn: console.log,
  error: console.log,
};
const client = createClient({ logger, logLevel: "warn" });

await client.deployments.scale("support-search", 2);
