// Scales a deployment to zero; asking twice is safe, so a lost connection is tried again.
import { createClient } from "tunerank";

const client = createClient(); // TUNERANK_ACCOUNT_ID names the account
await client.deployments.scale("prod", 0);
console.log("prod is scaling to zero");
