import { readFile } from "node:fs/promises";
import { createClient } from "tunerank";

const client = createClient({
  apiKey: async () =>
    (
      await readFile(process.env.KEY_FILE ?? "/run/secrets/key", "utf8")
    ).trim(),
});

await client.deployments.scale("support-search", 2);
