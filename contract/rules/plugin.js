// The rules of `npm run lint` that redocly.yaml cannot state by itself.
import { isDeepStrictEqual } from "node:util";
import { parse } from "yaml";

// Two rules compare the document with this table; it is read here so that both read the same one.
function codeStatuses(root) {
  return root.components?.schemas?.Code?.["x-http-statuses"] ?? {};
}

// Retry decisions and error classes are generated from this map, so a code without a status would be lost.
function codesMapped() {
  return {
    NamedSchemas: {
      Schema(schema, ctx) {
        if (ctx.key !== "Code") return;
        const statuses = schema["x-http-statuses"] ?? {};
        const isStatus = (status) => Number.isInteger(status) && status >= 100 && status <= 599;
        const sameCodes = Object.keys(statuses).join() === (schema.enum ?? []).join();
        if (sameCodes && Object.values(statuses).every(isStatus)) return;
        ctx.report({
          message: "Give x-http-statuses of Code one HTTP status for each value of enum, in the same order.",
          location: ctx.location.child(statuses === schema["x-http-statuses"] ? "x-http-statuses" : "enum"),
        });
      },
    },
  };
}

const IDENTIFIER = /^[A-Za-z][A-Za-z0-9]*$/;

function isNameIn(enumeration, name) {
  return IDENTIFIER.test(name) && name.startsWith(enumeration) && name.length > enumeration.length;
}

// Each generator reads another one of these extensions, so all of them have to say the same.
function enumsExplained() {
  return {
    NamedSchemas: {
      Schema(schema, ctx) {
        if (!Array.isArray(schema.enum)) return;
        const report = (keyword, message) =>
          ctx.report({
            message,
            location: ctx.location.child(schema[keyword] === undefined ? "enum" : keyword),
          });
        const names = schema["x-enumNames"] ?? [];
        const texts = schema["x-enum-descriptions"] ?? [];
        const textOf = schema["x-enumDescriptions"] ?? {};

        if (names.length !== schema.enum.length) {
          report("x-enumNames", "Give x-enumNames one name for each value of enum, in the same order.");
        } else if (new Set(names).size !== names.length || !names.every((name) => isNameIn(ctx.key, name))) {
          report(
            "x-enumNames",
            `Make each name in x-enumNames a different identifier that begins with ${ctx.key}: constants of Go share one package.`,
          );
        }
        if (Object.keys(textOf).join() !== schema.enum.join()) {
          report(
            "x-enumDescriptions",
            "Give x-enumDescriptions one key for each value of enum, in the same order.",
          );
        }
        if (
          texts.length !== schema.enum.length ||
          schema.enum.some((value, i) => texts[i] !== textOf[value])
        ) {
          report(
            "x-enum-descriptions",
            "Make x-enum-descriptions repeat the texts of x-enumDescriptions, in the order of enum. Use aliases.",
          );
        }
      },
    },
  };
}

// The mock is asked for a code by the name of its example, so name, code and status have to belong together.
function errorExamplesNamed() {
  const seen = new Set();
  let statuses = {};

  function check(status, response, location, ctx) {
    const expected = Object.keys(statuses).filter((code) => String(statuses[code]) === status);
    for (const [type, { examples = {} }] of Object.entries(response.content ?? {})) {
      // Only JSON carries a code; the other types are what proxies send.
      if (type !== "application/json") continue;
      const at = location.child(["content", type, "examples"]);
      for (const code of expected.filter((code) => examples[code] === undefined)) {
        ctx.report({
          message: `${status} has no example for ${code}. Add one named ${code}.`,
          location: at.key(),
        });
      }
      for (const [name, example] of Object.entries(examples)) {
        if (expected.includes(name) && example.value?.code === name) continue;
        ctx.report({
          message: `Example "${name}" does not fit ${status}. Name it ${expected.join(" or ")} and give its value that same code.`,
          location: at.child(name).key(),
        });
      }
    }
  }

  return {
    Root(root) {
      statuses = codeStatuses(root);
    },
    Responses(responses, ctx) {
      for (const [status, entry] of Object.entries(responses)) {
        if (!/^[45]\d\d$/.test(status)) continue;
        const { node, location } = entry.$ref
          ? ctx.resolve(entry)
          : { node: entry, location: ctx.location.child(status) };
        const id = `${status} ${location?.absolutePointer}`;
        if (node === undefined || seen.has(id)) continue;
        seen.add(id);
        check(status, node, location, ctx);
      }
    },
  };
}

// Which operation answers with which code is not documented, so none may leave one out.
function errorsListed() {
  let expected = [];
  return {
    Root(root) {
      const errors = Object.values(codeStatuses(root)).filter((status) => status >= 400);
      expected = [...new Set(errors.map(String)), "default"];
    },
    Operation(operation, ctx) {
      const missing = expected.filter((status) => operation.responses?.[status] === undefined);
      if (missing.length === 0) return;
      ctx.report({
        message: `This operation does not list ${missing.join(", ")}. Add each with a $ref to its entry in components/responses.`,
        location: ctx.location.child("responses").key(),
      });
    },
  };
}

const TYPES_OF_FORMAT = {
  int32: ["integer"],
  int64: ["integer", "string"],
  float: ["number"],
  double: ["number"],
  "date-time": ["string"],
  uuid: ["string"],
  binary: ["string"],
};

// Without a size generators take 32 bits, where a time in milliseconds does not fit. An unknown format means nothing.
function formatsTyped() {
  return {
    Schema(schema, ctx) {
      if (schema.format === undefined) {
        if (schema.type !== "integer") return;
        ctx.report({
          message:
            'An integer without a size is 32 bits to generators. Write "format: int64" where the size is open.',
          location: ctx.location.child("type"),
        });
        return;
      }
      const types = TYPES_OF_FORMAT[schema.format];
      if (types?.includes(schema.type)) return;
      const advice = types
        ? `Write "type: ${types.join('" or "')}" with "format: ${schema.format}".`
        : `Use one of ${Object.keys(TYPES_OF_FORMAT).join(", ")}, or leave the format out.`;
      ctx.report({
        message: `"format: ${schema.format}" does not fit "type: ${schema.type}". ${advice}`,
        location: ctx.location.child("format"),
      });
    },
  };
}

const DERIVED =
  /^(Request|Response|RequestBody|Body|JSONBody|Params|Parameters|Error|Errors|Result|Data|Variables)\w*$/;

// Generators name types of their own after an operation; a schema of the same name does not compile beside them.
function namesNotDerived() {
  const operations = [];
  const schemas = [];
  return {
    Operation(operation) {
      if (operation.operationId !== undefined) operations.push(operation.operationId.toLowerCase());
    },
    NamedSchemas: {
      Schema(_schema, ctx) {
        schemas.push({ name: ctx.key, location: ctx.location });
      },
    },
    Root: {
      leave(_root, ctx) {
        for (const { name, location } of schemas) {
          const operation = operations.find((each) => name.toLowerCase().startsWith(each));
          if (operation === undefined || !DERIVED.test(name.slice(operation.length))) continue;
          ctx.report({
            message: `Generators derive "${name}" from an operation. Name the schema after what it holds.`,
            location: location.key(),
          });
        }
      },
    },
  };
}

const FILLER = new Set(["a", "an", "the", "of", "it", "its", "this"]);

// A reader of a generated type sees only the property: a schema behind a $ref does not describe its role there.
function propertiesDescribed() {
  return {
    NamedSchemas: {
      Schema(schema, ctx) {
        for (const [name, property] of Object.entries(schema.properties ?? {})) {
          const problem = problemOf(name, ctx.key, property.description);
          if (problem === undefined) continue;
          ctx.report({
            message: `${problem} Say what it means; where nothing says so, say what is not documented ("The unit is not documented.").`,
            location: ctx.location.child(["properties", name]).key(),
          });
        }
      },
    },
  };
}

function problemOf(name, owner, description) {
  if (typeof description !== "string" || description.trim() === "") {
    return `Property "${name}" has no description.`;
  }
  const known = new Set([...wordsOf(name), ...wordsOf(owner), ...FILLER]);
  if (wordsOf(description).some((word) => !known.has(word))) return undefined;
  return `The description of "${name}" only repeats its name.`;
}

// "createdAt", "created_at" and "Created at" are the same words.
function wordsOf(text) {
  return (
    text
      .replaceAll(/([a-z])([A-Z])/g, "$1 $2")
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? []
  );
}

const ALLOWED = new Set(["$ref", "description"]);

// OpenAPI 3.0 ignores what stands beside a $ref, so only what may be lost without harm is allowed there.
function refSiblings() {
  return {
    ref(reference, ctx) {
      for (const keyword of Object.keys(reference)) {
        if (ALLOWED.has(keyword)) continue;
        ctx.report({
          message: `"${keyword}" stands beside a $ref, where OpenAPI 3.0 ignores it. Write "allOf: [$ref]" and put "${keyword}" beside the allOf.`,
          location: ctx.location.child(keyword).key(),
        });
      }
    },
  };
}

const NAMED = /^#\/components\/schemas\/[^/]+$/;
const UNDER_NOT = /\/not(\/|$)/;
const COMPOSITIONS = ["allOf", "anyOf", "oneOf"];

// Generators invent a name for an inline object, and another one after every move.
function schemasNamed() {
  return {
    Schema(schema, ctx) {
      const { pointer } = ctx.location;
      if (UNDER_NOT.test(pointer)) return;
      const isObject = schema.type === "object" || schema.properties !== undefined;
      const isEnumeration = Array.isArray(schema.enum) && schema.enum.length > 1;
      if ((isObject || isEnumeration) && !NAMED.test(pointer)) {
        const kind = isObject ? "object" : "enumeration";
        ctx.report({
          message: `This ${kind} schema has no name. Move it to components/schemas and refer to it with $ref.`,
        });
      }
      for (const keyword of COMPOSITIONS) {
        for (const [position, member] of (schema[keyword] ?? []).entries()) {
          if (member.$ref !== undefined) continue;
          ctx.report({
            message: `A member of ${keyword} has no name. Move it to components/schemas and refer to it with $ref.`,
            location: ctx.location.child([keyword, position]),
          });
        }
      }
    },
  };
}

// Tools read YAML 1.1 or 1.2: an unquoted date, "no" or 404 key is not the same value in each of them.
function yamlPortable() {
  return {
    Root(_root, ctx) {
      const read = (version) => parse(ctx.location.source.body, { version, merge: false, mapAsMap: true });
      for (const path of differences(read("1.1"), read("1.2"))) {
        ctx.report({
          message: `YAML 1.1 and 1.2 read this differently, or its key is not a string: ${path.join("/")}. Put it in quotes.`,
          location: ctx.location.child(path.map(String)),
        });
      }
    },
  };
}

function differences(older, newer, path = []) {
  if (
    older instanceof Map &&
    newer instanceof Map &&
    isDeepStrictEqual([...older.keys()], [...newer.keys()])
  ) {
    return [...older].flatMap(([key, value]) =>
      typeof key === "string" ? differences(value, newer.get(key), [...path, key]) : [[...path, key]],
    );
  }
  if (Array.isArray(older) && Array.isArray(newer) && older.length === newer.length) {
    return older.flatMap((item, position) => differences(item, newer[position], [...path, position]));
  }
  return isDeepStrictEqual(older, newer) ? [] : [path];
}

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
