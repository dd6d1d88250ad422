import { createClient } from "tunerank";

// Or a URL: "http://user:password@proxy.example.com:3128".
const client = createClient({ proxy: "env" });

await client.deployments.scale("support-search", 2);
