// The parameters of an operation, and of its path.
import type { Parameter } from "./document.js";
import { exampleOf, type Place, pointedTo, type Reading, schemaAt } from "./reading.js";

/** A parameter, and where it stands. */
export interface PlacedParameter extends Parameter {
  readonly place: Place;
}

/** All of them; one of the operation's own stands for one of its path with the same name. */
export function parametersOf(reading: Reading): PlacedParameter[] {
  const { operation, path, shared, place, refuse } = reading;
  const lists = [
    [shared, ["paths", path, "parameters"]],
    [operation.parameters ?? [], [...place, "parameters"]],
  ] as const;
  const found = new Map<string, PlacedParameter>();
  for (const [list, at] of lists) {
    for (const [index, each] of list.entries()) {
      const own = [...at, index];
      reading.collect(() => {
        const parameter = { ...pointedTo<Parameter>(reading, each, own), place: own };
        checkParameter(reading, parameter);
        found.set(`${parameter.in} ${parameter.name}`, parameter);
      });
    }
  }
  const all = [...found.values()];
  // Both are fields of one argument.
  const twice = all.find(({ in: where, name }) => where === "header" && found.has(`query ${name}`));
  if (twice) reading.collect(() => refuse(`a query and a header parameter ${twice.name}`, twice.place));
  return all;
}

const styles: Readonly<Record<string, string>> = { path: "simple", query: "form", header: "simple" };
const simple = /^(string|integer|number|boolean)$/;
const headersOfClient = /^(accept|authorization|content-type|content-length|host|cookie)$/i;

function checkParameter(reading: Reading, parameter: PlacedParameter): void {
  const { path, refuse } = reading;
  const { name, in: where, style = styles[where], explode = where === "query", schema, place } = parameter;
  const what = `the ${where} parameter ${name}`;
  if (!(where in styles)) refuse(what, [...place, "in"]);
  if (style !== styles[where]) refuse(`${what} with style: ${style}`, [...place, "style"]);
  if (schema === undefined) refuse(`${what} without a schema`, place);
  if (parameter.required && where !== "path" && exampleOf(reading.document, parameter) === undefined)
    refuse(
      `${what} without an example`,
      place,
      ", which it needs: the stand-in and the conformance data send it.",
    );
  const at = [...place, "schema"];
  const { type = "", items } = schemaAt(reading, schema, at);
  const isList = type === "array" && where === "query" && items !== undefined;
  if (isList && !explode) refuse(`${what} with explode: false`, [...place, "explode"]);
  const plain = isList ? schemaAt(reading, items, at).type : type;
  if (!simple.test(String(plain ?? ""))) refuse(`${what} of the type ${plain || "any"}`, at);
  if (where === "path" && type !== "string") refuse(`${what} that is no string`, at);
  if (where === "path" && !/^\w+$/.test(name))
    refuse(`${what}, whose name is no identifier`, [...place, "name"]);
  if (where === "path" && !path.includes(`{${name}}`)) refuse(`${what}, which its path lacks`, place);
  if (where === "header" && headersOfClient.test(name))
    refuse(`${what}, which the client sends itself`, place);
}
