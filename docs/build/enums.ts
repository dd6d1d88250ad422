import type { Contract, Schema } from "./contract.js";
import { code, head, type Page, prose, sentence, table, unstated } from "./markdown.js";

const aboutStates = `\`job.state\` can be any of these after [resume](/guide/resume.md). The client passes it through; no state is an error by
itself. What a failed job reports is in \`job.status\`, which \`throwIfFailed\` reads. In which states resume is accepted, and
which state a job has afterwards, is [not documented](/guide/unstated.md).
`;

const untold = "The meaning is not documented.";

/** One page for each enumeration, and their list. */
export function enumPages(contract: Contract): Page[] {
  const enums = Object.entries(contract.schemas).filter(([, schema]) => schema.enum !== undefined);
  const lines = enums.map(([name, schema]) => [
    `[${code(name)}](/enums/${name}.md)`,
    String(schema.enum?.length),
    prose(firstLine(schema)),
  ]);
  const index = [
    head("Enumerations", "Every enumeration of the contract, with the meaning of each value."),
    "# Enumerations\n",
    "Values that are newer than this package pass through, and the types allow them.\n",
    table(["Name", "Values", "What it says"], lines),
  ].join("\n");
  return [
    { path: "enums/index.md", text: index },
    ...enums.map(([name, schema]) => ({ path: `enums/${name}.md`, text: enumPage(name, schema) })),
  ];
}

function enumPage(name: string, schema: Schema): string {
  return [
    head(name, `${name}: ${firstLine(schema)} Every value with its meaning.`),
    `# ${name}\n`,
    `${prose(firstLine(schema))}\n`,
    `${unstated(schema)}\n`,
    name === "JobState" ? aboutStates : "",
    "## Values\n",
    valuesOf(name, schema),
  ].join("\n");
}

function valuesOf(name: string, schema: Schema): string {
  const rows = (schema.enum ?? []).map((value) => {
    const meaning = schema["x-enumDescriptions"]?.[value] ?? untold;
    const shown = name === "Code" ? `[${code(value)}](/codes/${value}.md)` : code(value);
    return [`<span id="${value}">${shown}</span>`, prose(sentence(meaning))];
  });
  return table(["Value", "Meaning"], rows);
}

function firstLine({ description = "" }: Schema): string {
  return description.split("\n\n")[0]?.replaceAll("\n", " ") ?? "";
}
