// The configuration of the manual, with no option but where to read and where to write.
import { defineConfig } from "@kubb/core";
import { pluginClient } from "@kubb/plugin-client";
import { pluginOas } from "@kubb/plugin-oas";
import { pluginTs } from "@kubb/plugin-ts";

export default defineConfig({
  input: { path: "./openapi-client.json" },
  output: { path: "./client" },
  plugins: [pluginOas(), pluginTs(), pluginClient()],
});
