// Calls of generated clients in other languages: those that `npm run check:generators` compiles and runs.
import { readFileSync } from "node:fs";
import { block } from "./markdown.js";

const callers = [
  {
    label: "Go (oapi-codegen)",
    file: "oapi-codegen/main.go",
    start: /^ +service, err := client\.New.*$/m,
    call: (id: string) => new RegExp(`service\\.${id}(WithBody)?WithResponse\\(`, "i"),
  },
  {
    label: "Java (openapi-generator)",
    file: "openapi-generator-java/Call.java",
    start: /^ +ApiClient client[\s\S]*?setBearerToken.*$/m,
    call: (id: string) => new RegExp(`\\.${id}\\(`),
  },
];

/** The request of an operation in Go and Java, as blocks of a code group. */
export function otherSamples(id: string): string[] {
  return callers.flatMap(({ label, file, start, call }) => {
    const path = new URL(`../../checks/generators/callers/${file}`, import.meta.url);
    const text = readFileSync(path, "utf8").replaceAll("\t", "  ");
    const lines = text.split("\n");
    const at = lastOf(lines, call(id));
    if (at < 0) return [];
    const from = lastOf(lines.slice(0, at), /^( {2})?\S.*\{$|try \{$|throws \w+ \{$/) + 1;
    const to = at + lines.slice(at).findIndex((line) => /\);?$/.test(line));
    // The function's own parameter is what it calls.
    const header = lines[lastOf(lines.slice(0, at), /static/)] ?? "";
    const [, type, name] = /\((\w+Api) (\w+)[,)]/.exec(header) ?? [];
    const made = type === undefined ? [] : [`${type} ${name} = new ${type}(client);`];
    const [set = ""] = start.exec(readFileSync(path, "utf8")) ?? [];
    const all = [
      ...dedented(set.replaceAll("\t", "  ").split("\n")),
      ...made,
      ...dedented(lines.slice(from, to + 1)),
    ];
    return [`${block(`${file.endsWith("go") ? "go" : "java"} [${label}]`, all.join("\n"))}\n`];
  });
}

function lastOf(lines: readonly string[], what: RegExp): number {
  return lines.reduce((found, line, index) => (what.test(line) ? index : found), -1);
}

function dedented(lines: readonly string[]): string[] {
  const indent = Math.min(...lines.filter((line) => line !== "").map((line) => line.search(/\S/)));
  const short = (line: string) => (line.length > 105 ? line.replace("(", "(\n    ") : line);
  return lines.map((line) => short(line.slice(indent)));
}
