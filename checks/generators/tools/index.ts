import type { Tool } from "../check/tool.js";
import { fastMcp, openapiMcpGenerator } from "./assistants.js";
import { oapiCodegen, ogen } from "./go.js";
import {
  openapiGeneratorCppRestsdk,
  openapiGeneratorCsharp,
  openapiGeneratorElixir,
  openapiGeneratorGo,
  openapiGeneratorJava,
  openapiGeneratorKotlin,
  openapiGeneratorPhp,
  openapiGeneratorPython,
  openapiGeneratorRuby,
  openapiGeneratorRust,
  openapiGeneratorSpring,
  openapiGeneratorSwift6,
  openapiGeneratorTypescriptFetch,
} from "./openapiGenerator.js";
import { datamodelCodeGenerator, openapiPythonClient } from "./python.js";
import { progenitor } from "./rust.js";
import { heyApi, kubb, openapiTypescript, orval, swaggerTypescriptApi } from "./typescript.js";

export const tools: readonly Tool[] = [
  openapiGeneratorJava,
  openapiGeneratorKotlin,
  openapiGeneratorGo,
  oapiCodegen,
  ogen,
  openapiGeneratorPython,
  openapiPythonClient,
  datamodelCodeGenerator,
  openapiGeneratorRust,
  progenitor,
  openapiGeneratorPhp,
  openapiGeneratorRuby,
  openapiGeneratorCppRestsdk,
  openapiGeneratorSpring,
  openapiGeneratorCsharp,
  openapiGeneratorSwift6,
  openapiGeneratorElixir,
  openapiGeneratorTypescriptFetch,
  heyApi,
  openapiTypescript,
  orval,
  kubb,
  swaggerTypescriptApi,
  openapiMcpGenerator,
  fastMcp,
];
