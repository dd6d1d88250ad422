import type { Contract, Schema } from "./contract.js";
import { code, head, type Page, prose, sentence, table } from "./markdown.js";

const untold = "The meaning is not documented.";

/** One page for each enumeration, one for each job state, and their list. */
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
    "Answers may hold values newer than this package: they pass through, and the types say so.\n",
    table(["Name", "Values", "What it says"], lines),
  ].join("\n");
  const states = contract.schemas.JobState;
  if (states === undefined) throw new Error("The contract has no JobState.");
  return [
    { path: "enums/index.md", text: index },
    ...enums.map(([name, schema]) => ({ path: `enums/${name}.md`, text: enumPage(name, schema, contract) })),
    ...(states.enum ?? []).map((state) => ({ path: `states/${state}.md`, text: statePage(state, states) })),
  ];
}

function enumPage(name: string, schema: Schema, contract: Contract): string {
  const used = usesOf(name, contract);
  return [
    head(name, `${name}: ${firstLine(schema)} Every value with its meaning.`),
    `# ${name}\n`,
    `${prose(firstLine(schema))}\n`,
    used.length === 0 ? "" : `Used by ${used.map(code).join(", ")}.\n`,
    unstated(schema),
    "## Values\n",
    valuesOf(name, schema),
  ].join("\n");
}

// Where each value has a page of its own, that is what search should find: a row is enough here.
const pagesOf: Readonly<Record<string, string>> = { Code: "codes", JobState: "states" };

function valuesOf(name: string, schema: Schema): string {
  const values = (schema.enum ?? []).map((value) => {
    const meaning = schema["x-enumDescriptions"]?.[value] ?? untold;
    return [value, prose(sentence(meaning))] as const;
  });
  const folder = pagesOf[name];
  if (folder === undefined)
    return values.map(([value, meaning]) => `### ${value}\n\n${meaning}\n`).join("\n");
  const rows = values.map(([value, meaning]) => [
    `<span id="${value}">[${code(value)}](/${folder}/${value}.md)</span>`,
    meaning,
  ]);
  return table(["Value", "Meaning"], rows);
}

function statePage(state: string, schema: Schema): string {
  const meaning = schema["x-enumDescriptions"]?.[state] ?? untold;
  const said = meaning === untold;
  return [
    head(state, `${state}, a state of a reinforcement fine-tuning job: ${meaning}`),
    `# ${state}\n`,
    `${prose(sentence(meaning))}\n`,
    said ? "This state is listed without a word on what it means. Nothing is read into it here.\n" : "",
    `\`job.state\` can be this value after [resume](/guide/resume.md). The client passes it through: it checks no state,`,
    "and a state alone is never an error. What a failed job reports stands in `job.status`, which `throwIfFailed` reads.\n",
    "It is not documented in which states resume is accepted, nor the state a job has afterwards",
    "([what is left open](/guide/unstated.md)).\n",
    "[All states](/enums/JobState.md)",
  ].join("\n");
}

function usesOf(name: string, contract: Contract): string[] {
  return Object.entries(contract.schemas).flatMap(([owner, { properties = {} }]) =>
    Object.entries(properties)
      .filter(([, property]) => refersTo(property, name))
      .map(([field]) => `${owner}.${field}`),
  );
}

function refersTo(schema: Schema, name: string): boolean {
  const refs = [schema.$ref, ...(schema.allOf ?? []).map(({ $ref }) => $ref)];
  return refs.includes(`#/components/schemas/${name}`);
}

function unstated(schema: Schema): string {
  const text = schema["x-unstated"];
  return text === undefined ? "" : `${prose(text)}\n`;
}

function firstLine({ description = "" }: Schema): string {
  return description.split("\n\n")[0]?.replaceAll("\n", " ") ?? "";
}
