// The rules of `npm run lint` that redocly.yaml cannot state by itself, one file each.
import { codesMapped } from "./codesMapped.js";
import { enumsExplained } from "./enumsExplained.js";
import { errorExamplesNamed } from "./errorExamplesNamed.js";
import { errorsListed } from "./errorsListed.js";
import { formatsTyped } from "./formatsTyped.js";
import { namesNotDerived } from "./namesNotDerived.js";
import { propertiesDescribed } from "./propertiesDescribed.js";
import { refSiblings } from "./refSiblings.js";
import { schemasNamed } from "./schemasNamed.js";
import { yamlPortable } from "./yamlPortable.js";

export default function contract() {
  return {
    id: "contract",
    rules: {
      oas3: {
        "codes-mapped": codesMapped,
        "enums-explained": enumsExplained,
        "error-examples-named": errorExamplesNamed,
        "errors-listed": errorsListed,
        "formats-typed": formatsTyped,
        "names-not-derived": namesNotDerived,
        "properties-described": propertiesDescribed,
        "ref-siblings": refSiblings,
        "schemas-named": schemasNamed,
        "yaml-portable": yamlPortable,
      },
    },
  };
}
