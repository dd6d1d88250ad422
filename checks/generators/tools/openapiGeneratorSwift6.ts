import type { Tool } from "../check/tool.js";
import { openapiGenerator } from "./openapiGenerator.js";

export const openapiGeneratorSwift6: Tool = {
  ...openapiGenerator("swift6"),
  language: "Swift",
  needs: ["Java 11 or newer", "Maven"],
  builds: { had: ["swift", "--version"], build: ["swift", "build"] },
  note: "wants Swift 6, for which Debian 12 has no package (E: Unable to locate package swiftlang)",
};
