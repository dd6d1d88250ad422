import type { Tool } from "../check/tool.js";
import { openapiGenerator } from "./openapiGenerator.js";

export const openapiGeneratorCsharp: Tool = {
  ...openapiGenerator("csharp"),
  language: "C#",
  needs: ["Java 11 or newer", "Maven"],
  note: "not compiled: Debian has no .NET SDK, and its mono compiler stops at C# 7",
};
