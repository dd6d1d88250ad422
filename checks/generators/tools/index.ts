import type { Tool } from "../check/tool.js";
import { heyApi } from "./heyApi.js";
import { oapiCodegen } from "./oapiCodegen.js";
import { openapiGeneratorGo } from "./openapiGeneratorGo.js";
import { openapiGeneratorJava } from "./openapiGeneratorJava.js";
import { openapiGeneratorPython } from "./openapiGeneratorPython.js";
import { openapiGeneratorRust } from "./openapiGeneratorRust.js";
import { openapiPythonClient } from "./openapiPythonClient.js";
import { openapiTypescript } from "./openapiTypescript.js";
import { progenitor } from "./progenitor.js";

export const tools: readonly Tool[] = [
  openapiGeneratorJava,
  openapiGeneratorPython,
  openapiGeneratorGo,
  openapiGeneratorRust,
  openapiPythonClient,
  oapiCodegen,
  progenitor,
  heyApi,
  openapiTypescript,
];
