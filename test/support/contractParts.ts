/** Any part of a copy of the contract. */
// biome-ignore lint/suspicious/noExplicitAny: a change reaches into any depth of a document
export type Part = any;

export const rerank: string = "/inference/v1/rerank";
export const scale: string = "/v1/accounts/{account_id}/deployments/{deployment_id}:scale";
export const upload: string = "/v1/accounts/{account_id}/datasets/{dataset_id}:upload";
export const resume: string =
  "/v1/accounts/{account_id}/reinforcementFineTuningJobs/{reinforcement_fine_tuning_job_id}:resume";

export function schema(d: Part, name: string): Part {
  return d.components.schemas[name];
}

export function field(d: Part, name: string, property: string): Part {
  return schema(d, name).properties[property];
}

export function addRequired(d: Part, name: string, property: string): void {
  schema(d, name).properties[property] = { type: "string" };
  schema(d, name).required.push(property);
}

/** Replaces the least number of replicas by an exclusive one. */
export function makeExclusive(d: Part): void {
  const replicas = field(d, "DeploymentScale", "replicaCount");
  delete replicas.minimum;
  replicas.exclusiveMinimum = 0;
}

export function remove(list: unknown[], value: unknown): void {
  list.splice(list.indexOf(value), 1);
}

export function drop(d: Part, name: string, property: string): void {
  delete schema(d, name).properties[property];
}

export function replaceKey(owner: Part, key: string, by: string): void {
  owner[by] = owner[key];
  delete owner[key];
}

/** Gives a required property another name. */
export function rename(object: Part, property: string, by: string): void {
  replaceKey(object.properties, property, by);
  remove(object.required, property);
  object.required.push(by);
}

export function addValue(d: Part, name: string, value: string, constant: string): void {
  schema(d, name).enum.unshift(value);
  schema(d, name)["x-enumNames"].unshift(constant);
}

export function dropValue(d: Part, name: string, value: string): void {
  const { enum: values, "x-enumNames": constants } = schema(d, name);
  constants.splice(values.indexOf(value), 1);
  remove(values, value);
}

/** Gives a schema another name, with all that refers to it. */
export function renameSchema(d: Part, name: string, by: string): void {
  replaceKey(d.components.schemas, name, by);
  const visit = (part: Part): void => {
    if (part.$ref === `#/components/schemas/${name}`) part.$ref = `#/components/schemas/${by}`;
    for (const inner of Object.values(part)) if (typeof inner === "object" && inner !== null) visit(inner);
  };
  visit(d);
}

export function addScheme(d: Part): void {
  d.components.securitySchemes.key = { type: "apiKey", in: "header", name: "x-key" };
}

/** Turns the order of an object's keys round. */
export function reverse(object: Part): void {
  for (const key of Object.keys(object).reverse()) {
    const value = object[key];
    delete object[key];
    object[key] = value;
  }
}
