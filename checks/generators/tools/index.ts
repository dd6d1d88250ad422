import type { Tool } from "../check/tool.js";
import { datamodelCodeGenerator } from "./datamodelCodeGenerator.js";
import { heyApi } from "./heyApi.js";
import { oapiCodegen } from "./oapiCodegen.js";
import { openapiGeneratorCsharp } from "./openapiGeneratorCsharp.js";
import { openapiGeneratorElixir } from "./openapiGeneratorElixir.js";
import { openapiGeneratorGo } from "./openapiGeneratorGo.js";
import { openapiGeneratorJava } from "./openapiGeneratorJava.js";
import { openapiGeneratorKotlin } from "./openapiGeneratorKotlin.js";
import { openapiGeneratorPhp } from "./openapiGeneratorPhp.js";
import { openapiGeneratorPython } from "./openapiGeneratorPython.js";
import { openapiGeneratorRuby } from "./openapiGeneratorRuby.js";
import { openapiGeneratorRust } from "./openapiGeneratorRust.js";
import { openapiGeneratorSwift6 } from "./openapiGeneratorSwift6.js";
import { openapiGeneratorTypescriptFetch } from "./openapiGeneratorTypescriptFetch.js";
import { openapiPythonClient } from "./openapiPythonClient.js";
import { openapiTypescript } from "./openapiTypescript.js";
import { orval } from "./orval.js";
import { progenitor } from "./progenitor.js";

export const tools: readonly Tool[] = [
  openapiGeneratorJava,
  openapiGeneratorKotlin,
  openapiGeneratorGo,
  oapiCodegen,
  openapiGeneratorPython,
  openapiPythonClient,
  datamodelCodeGenerator,
  openapiGeneratorRust,
  progenitor,
  openapiGeneratorPhp,
  openapiGeneratorRuby,
  openapiGeneratorCsharp,
  openapiGeneratorSwift6,
  openapiGeneratorElixir,
  openapiGeneratorTypescriptFetch,
  heyApi,
  openapiTypescript,
  orval,
];
