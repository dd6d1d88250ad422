import { HttpsProxyAgent } from "https-proxy-agent";
import { createClient } from "tunerank";

const proxy = process.env.PROXY_URL ?? "http://proxy.example.com:3128";
const client = createClient({ agent: new HttpsProxyAgent(proxy) });

await client.deployments.scale("support-search", 2);
