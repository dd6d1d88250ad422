import type { Tool } from "../check/tool.js";
import { openapiGenerator } from "./openapiGenerator.js";

export const openapiGeneratorCsharp: Tool = {
  ...openapiGenerator("csharp"),
  language: "C#",
  needs: ["Java 11 or newer", "Maven"],
  builds: { had: ["dotnet", "--version"], build: ["dotnet", "build"] },
  note: "wants the .NET SDK, for which Debian 12 has no package (E: Couldn't find any package by glob 'dotnet-sdk-8.0'); its mono compiler stops at C# 7",
};
