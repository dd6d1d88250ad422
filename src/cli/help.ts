import {
  type Command,
  callsService,
  commands,
  commonOptions,
  type Option,
  serviceOptions,
} from "./commands.js";
import { exitCodeOf, exitCodes } from "./exitCodes.js";
import type { Terminal } from "./terminal.js";

const widest = 100;

/** The help of the whole program. */
export function generalHelp(terminal: Terminal): string {
  const rows = Object.entries(commands).map(
    ([name, command]) => [usageOf(name, command), command.summary] as const,
  );
  const exits = [...new Set(Object.values(exitCodeOf))].map((exit) => {
    const named = Object.entries(exitCodeOf).filter(([, each]) => each === exit);
    return [String(exit), named.map(([code]) => code).join(", ")] as const;
  });
  return [
    "tunerank: rerank documents, upload dataset files, scale deployments, resume fine-tuning jobs.",
    section("Commands", rows, terminal),
    section(
      "Exit codes",
      [
        [String(exitCodes.success), "success"],
        [String(exitCodes.fault), "a fault of this program or of a file"],
        [String(exitCodes.usage), "the command line is wrong; nothing was sent"],
        ...exits,
      ],
      terminal,
    ),
    "`tunerank COMMAND --help` shows a command's options and examples. `tunerank --version` prints the version.",
  ].join("\n\n");
}

/** The help of one command. */
export function commandHelp(name: string, terminal: Terminal): string {
  const command = commands[name] as Command;
  const examples = command.examples.flatMap(([line, text]) => [
    `  ${terminal.style("dim", `# ${text}`)}`,
    `  ${line.includes("tunerank ") && !line.startsWith(name) ? line : `tunerank ${line}`}`,
  ]);
  return [
    `${terminal.style("bold", "Usage:")} tunerank ${usageOf(name, command)} [OPTIONS]`,
    wrap(command.about, width(terminal)).join("\n"),
    ...(Object.keys(command.options).length > 0
      ? [section("Options", optionRows(command.options), terminal)]
      : []),
    ...(callsService(name) ? [section("The service", optionRows(serviceOptions), terminal)] : []),
    section("Output", optionRows(commonOptions), terminal),
    [terminal.style("bold", "Examples:"), ...examples].join("\n"),
  ].join("\n\n");
}

function usageOf(name: string, { positionals, options }: Command): string {
  const required = Object.entries(options).filter(([, { text }]) => text.startsWith("Required."));
  return [name, ...required.map(([option, { value }]) => `--${option} ${value}`), ...positionals].join(" ");
}

function optionRows(options: Readonly<Record<string, Option>>): [string, string][] {
  return Object.entries(options).map(([name, { short, value, text }]) => [
    `${short ? `-${short}, ` : ""}--${name}${value ? ` ${value}` : ""}`,
    text,
  ]);
}

function section(title: string, rows: readonly (readonly [string, string])[], terminal: Terminal): string {
  const left = Math.max(...rows.map(([name]) => name.length)) + 4;
  const lines = rows.flatMap(([name, text]) =>
    wrap(text, width(terminal) - left).map(
      (line, index) => `${(index === 0 ? `  ${name}` : "").padEnd(left)}${line}`,
    ),
  );
  return [terminal.style("bold", `${title}:`), ...lines].join("\n");
}

function width({ columns }: Terminal): number {
  return Math.max(60, Math.min(widest, columns || widest));
}

function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + word.length + 1 > columns) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
