import type { Tool } from "../check/tool.js";
import { openapiGenerator } from "./openapiGenerator.js";

export const openapiGeneratorSwift6: Tool = {
  ...openapiGenerator("swift6"),
  language: "Swift",
  needs: ["Java 11 or newer", "Maven"],
  note: "not compiled: Debian has no Swift compiler",
};
