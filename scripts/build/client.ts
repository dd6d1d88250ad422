import type { Json, JsonObject } from "./json.js";
import { openAnswer } from "./openAnswer.js";
import { isObject, mapValues, namesReached } from "./walk.js";

// Any body at all: a proxy's page, a text, nothing.
const anyBody: JsonObject = { "*/*": { schema: {} } };

/** The form that clients are generated from: what is sent is as strict as ever, what is answered may be newer. */
export function toClient(document: JsonObject): JsonObject {
  const components = document.components as JsonObject;
  const paths = mapItems(document.paths as JsonObject, (operation) => ({
    ...operation,
    responses: withoutDefault(operation.responses as JsonObject),
  }));
  const responses = mapValues(components.responses as JsonObject, (response) => ({
    ...(response as JsonObject),
    content: anyBody,
  }));
  const schemas = openSchemas(paths, components);
  return prune({ ...document, paths, components: { ...components, responses, schemas } });
}

// A default answer counts as a success, too, for tools that have one type for all successes.
function withoutDefault(responses: JsonObject): JsonObject {
  const { default: _, ...statuses } = responses;
  return statuses;
}

function openSchemas(paths: JsonObject, components: JsonObject): JsonObject {
  const answers: Json[] = [];
  const requests: Json[] = [];
  mapItems(paths, (operation) => {
    const { responses, ...others } = operation;
    answers.push({ responses: responses as Json });
    requests.push(others);
    return operation;
  });
  const answered = namesReached(answers, components, "schemas");
  const sent = namesReached(requests, components, "schemas");
  return mapValues(components.schemas as JsonObject, (schema, name) => {
    if (!answered.has(name)) return schema;
    if (sent.has(name)) throw new Error(`${name} is sent and answered: it needs a schema for each.`);
    return openAnswer(schema as JsonObject);
  });
}

// What nothing refers to any more would be a warning of linters, and a file in some clients.
function prune(document: JsonObject): JsonObject {
  const components = document.components as JsonObject;
  const pruned = mapValues(components, (members, kind) => {
    if (kind === "securitySchemes") return members;
    const reached = namesReached({ paths: document.paths as Json }, components, kind);
    return mapValues(members as JsonObject, (member, name) => (reached.has(name) ? member : undefined));
  });
  return { ...document, components: pruned };
}

function mapItems(paths: JsonObject, map: (operation: JsonObject) => JsonObject): JsonObject {
  return mapValues(paths, (item) =>
    mapValues(item as JsonObject, (operation) => (isObject(operation) ? map(operation) : operation)),
  );
}
