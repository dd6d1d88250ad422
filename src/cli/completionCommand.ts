import type { Command, Option } from "commander";
import { type Context, UsageError } from "./context.js";
import { operationIds } from "./operations.js";
import { shells } from "./program.js";

type Commands = readonly Command[];

const scripts: Readonly<Record<(typeof shells)[number], (commands: Commands) => string>> = {
  bash,
  zsh,
  fish,
  powershell,
};

/** Runs `tunerank completion SHELL`. */
export async function run({ args, program, terminal }: Context): Promise<void> {
  const shell = shells.find((each) => each === args[0]);
  if (shell === undefined) throw new UsageError(`SHELL must be one of ${shells.join(", ")}.`);
  terminal.print(scripts[shell](program.commands));
}

// The words that the first argument of a command may be.
const firstWords: Readonly<Record<string, readonly string[]>> = { completion: shells, request: operationIds };

function firstWordsOf(command: Command): string {
  return (firstWords[command.name()] ?? []).join(" ");
}

function optionsOf(command: Command): Option[] {
  return command.createHelp().visibleOptions(command);
}

// The script for bash. If none of its words matches, bash completes file names (`-o default`).
function bash(commands: Commands): string {
  const names = commands.map((command) => command.name()).join(" ");
  const cases = commands.map((command) => {
    const words = optionsOf(command).map(({ long }) => long);
    return `    ${command.name()}) words="${words.join(" ")}" first="${firstWordsOf(command)}" ;;`;
  });
  return `_tunerank() {
  local current="\${COMP_WORDS[COMP_CWORD]}" words="" first=""
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${names} help --help --version" -- "$current"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${cases.join("\n")}
  esac
  case "$current" in
    -*) COMPREPLY=($(compgen -W "$words" -- "$current")) ;;
    *) [ "$COMP_CWORD" -eq 2 ] && COMPREPLY=($(compgen -W "$first" -- "$current")) ;;
  esac
}
complete -o default -F _tunerank tunerank`;
}

function zsh(commands: Commands): string {
  const described = commands.map((command) => `    ${quote(`${command.name()}:${command.summary()}`)}`);
  const cases = commands.map((command) => {
    const rows = optionsOf(command).map((option) =>
      quote(`${option.long}[${bracketed(option.description)}]${option.required ? `:${option.name()}:` : ""}`),
    );
    const first = firstWordsOf(command);
    const rest = [...(first === "" ? [] : [`1:argument:(${first})`]), "*:file:_files"];
    return `    ${command.name()}) _arguments ${[...rows, ...rest.map(quote)].join(" ")} ;;`;
  });
  return `#compdef tunerank
_tunerank() {
  local -a commands=(
${described.join("\n")}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command="$words[2]"
  shift words
  (( CURRENT-- ))
  case "$command" in
${cases.join("\n")}
  esac
}
compdef _tunerank tunerank`;
}

function fish(commands: Commands): string {
  const lines = commands.flatMap((command) => [
    `complete -c tunerank -n __fish_use_subcommand -f -a ${command.name()} -d ${quote(command.summary())}`,
    ...firstWordsLine(command),
    ...optionsOf(command).map(({ long, short, required, description }) => {
      const flags = `-l ${long?.slice(2)}${short ? ` -s ${short.slice(1)}` : ""}${required ? " -r" : ""}`;
      return `complete -c tunerank -n '__fish_seen_subcommand_from ${command.name()}' ${flags} -d ${quote(description)}`;
    }),
  ]);
  return lines.join("\n");
}

function firstWordsLine(command: Command): string[] {
  const words = firstWordsOf(command);
  const isFirst = `__fish_seen_subcommand_from ${command.name()}; and test (count (commandline -opc)) -eq 2`;
  return words === "" ? [] : [`complete -c tunerank -n '${isFirst}' -f -a '${words}'`];
}

// The script for PowerShell, which itself completes file names where the script block returns nothing.
function powershell(commands: Commands): string {
  const cases = commands.map((command) => {
    const words = [...optionsOf(command).map(({ long }) => `${long}`), ...firstWordsOf(command).split(" ")];
    return `    ${command.name()} { ${words.filter(Boolean).map(powershellQuote).join(", ")} }`;
  });
  const names = [...commands.map((command) => command.name()), "help", "--help", "--version"];
  return `Register-ArgumentCompleter -Native -CommandName tunerank -ScriptBlock {
  param($word, $line, $cursor)
  $given = @($line.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursor } | ForEach-Object { "$_" })
  $words = if ($given.Count -lt 2) { ${names.map(powershellQuote).join(", ")} } else { switch -CaseSensitive ($given[1]) {
${cases.join("\n")}
  } }
  $words | Where-Object { $_ -clike "$word*" } | ForEach-Object {
    [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
  }
}`;
}

function powershellQuote(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

// Escapes brackets and colons, which have a meaning in an argument of zsh's `_arguments`.
function bracketed(text: string): string {
  return text.replace(/[[\]:\\]/g, "\\$&");
}
