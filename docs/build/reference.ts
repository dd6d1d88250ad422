// The HTTP reference: a page for each operation, one for the job and its parts, one for the limits. All of it is read
// from the contract, so that it says what every published document says.
import { isSafe } from "../../scripts/generate/document.js";
import type { Contract, Schema } from "./contract.js";
import { fieldsOf, job, jobParts, limitOf } from "./fields.js";
import { code, head, type Page, prose, table, unstated } from "./markdown.js";
import { examplesOf, operationPage } from "./operationPage.js";
import { pageOf } from "./operations.js";

/** The pages of the reference. */
export function referencePages(contract: Contract): Page[] {
  return [
    { path: "reference/index.md", text: overview(contract) },
    ...contract.operations.map((operation) => ({
      path: `reference/${pageOf(operation.id).page}.md`,
      text: operationPage(contract, operation),
    })),
    { path: "reference/job.md", text: jobPage(contract) },
    { path: "reference/limits.md", text: limitsPage(contract) },
  ];
}

function overview(contract: Contract): string {
  const rows = contract.operations.map(({ id, method, path, kind, told }) => [
    `[${told.summary}](/reference/${pageOf(id).page}.md)`,
    `${code(method)} ${code(path)}`,
    `${isSafe(told) ? "yes" : "no"}: ${code(kind)}`,
  ]);
  const [server] = contract.servers;
  return [
    head("HTTP reference", "Every operation over HTTP: address, key, request, responses and errors."),
    "# HTTP reference\n",
    `${prose(contract.description)}\n`,
    table(["Operation", "Request", "[Idempotent](/guide/extensions.md#x-retry)"], rows),
    "\n## Address and key\n",
    `Every path is appended to the address of the service. ${unstated(server)}\n`,
    `${prose(contract.bearer.description ?? "")} ${unstated(contract.bearer)}\n`,
    "## More\n",
    "- [The job and its parts](/reference/job.md), the largest response.",
    "- [Status codes](/codes/index.md), [job states](/enums/JobState.md), [other enumerations](/enums/index.md), [limits](/reference/limits.md).",
    "- [How an error response is read](/guide/error-bodies.md): its shape is not documented.",
    "- [The contract to download](/guide/documents.md), for generators, mocks and validators.",
    "- [What is not documented](/guide/unstated.md), all in one place.\n",
    `Contract ${contract.version}, revision ${contract.revision}. ${unstated({ "x-unstated": contract.unstated })}`,
  ].join("\n");
}

function jobPage(contract: Contract): string {
  const [whole = job, ...parts] = jobParts(contract);
  const partOf = (name: string): string => {
    const schema = contract.schemas[name] ?? fail();
    const words = `${prose(schema.description ?? name)} ${unstated(schema, name)}`;
    return `::: details ${name}\n<div id="${name.toLowerCase()}">\n\n${words}\n\n</div>\n\n${fieldsOf(contract, schema, "request")}\n:::\n`;
  };
  const schema = contract.schemas[whole] ?? fail();
  const withResponse = contract.operations.filter(({ response: { schema: each } }) =>
    each?.$ref?.endsWith(`/${job}`),
  );
  const links = withResponse.map(({ id }) => {
    const { page } = pageOf(id);
    return `[${page}](/reference/${page}.md)`;
  });
  const [first = fail()] = withResponse;
  const { everyField } =
    first.told.responses[first.response.status]?.content?.["application/json"]?.examples ?? {};
  return [
    head("A reinforcement fine-tuning job", "Every field of a job, and of the parts it is made of.", {
      wide: true,
    }),
    "# The job and its parts\n",
    `${prose(schema.description ?? "")} It is the response of ${links.join(" and ")}. ${unstated(schema)}\n`,
    fieldsOf(contract, schema, "request"),
    "## Its parts\n",
    parts.map(partOf).join("\n"),
    examplesOf(everyField === undefined ? [] : [everyField]),
  ].join("\n");
}

function limitsPage(contract: Contract): string {
  const fields = Object.entries(contract.schemas).flatMap(([owner, { properties = {} }]) =>
    Object.entries(properties).map(([name, schema]) => ({ owner, name, schema })),
  );
  const parameters = contract.operations.flatMap(({ id, parameters: all }) =>
    Object.values(all)
      .flat()
      .map(({ name, schema }) => ({ owner: id, name, schema: schema as Schema })),
  );
  const rows = [...fields, ...parameters]
    .filter(({ schema }) => limitOf(schema) !== "" || schema.default !== undefined)
    .map(({ owner, name, schema }) => [
      code(name),
      code(owner),
      `${limitOf(schema)}${unstated(schema, name)}`,
      schema.default === undefined ? "" : code(JSON.stringify(schema.default)),
    ]);
  return [
    head("Limits", "Every limit and default that the contract names."),
    "# Limits\n",
    "Every limit and default that the contract names. Rate limits and quotas are not documented, and none is assumed.\n",
    table(["Field", "Of", "Limit", "Default"], rows),
  ].join("\n");
}

function fail(): never {
  throw new Error("The contract has another form than the reference expects.");
}
