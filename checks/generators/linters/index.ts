import type { Linter } from "../check/linter.js";
import { fern } from "./fern.js";
import { kinOpenapi } from "./kinOpenapi.js";
import { openapiSpecValidator } from "./openapiSpecValidator.js";
import { spectral } from "./spectral.js";
import { swaggerParser } from "./swaggerParser.js";

export const linters: readonly Linter[] = [spectral, openapiSpecValidator, swaggerParser, kinOpenapi, fern];
