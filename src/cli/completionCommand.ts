import type { Command, Option } from "commander";
import { type Context, UsageError } from "./context.js";
import { operationIds } from "./operations.js";
import { shells } from "./program.js";

type Commands = readonly Command[];

/** Runs `tunerank completion SHELL`. */
export async function run({ args, program, terminal }: Context): Promise<void> {
  const shell = shells.find((each) => each === args[0]);
  if (shell === undefined) throw new UsageError(`SHELL must be one of ${shells.join(", ")}.`);
  terminal.write(`${{ bash, zsh, fish }[shell](program.commands)}\n`);
}

// The words that the first argument of a command may be.
function firstWords(command: Command): string {
  return { completion: shells, request: operationIds }[command.name()]?.join(" ") ?? "";
}

function optionsOf(command: Command): Option[] {
  return command.createHelp().visibleOptions(command);
}

// The script for bash. If none of its words matches, bash completes file names (`-o default`).
function bash(commands: Commands): string {
  const names = commands.map((command) => command.name()).join(" ");
  const cases = commands.map((command) => {
    const words = optionsOf(command).map(({ long }) => long);
    return `    ${command.name()}) words="${words.join(" ")}" first="${firstWords(command)}" ;;`;
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
    // Brackets, colons and backslashes have a meaning in an argument of `_arguments`.
    const rows = optionsOf(command).map(
      ({ long, description, required }) =>
        `${long}[${description.replace(/[[\]:\\]/g, "\\$&")}]${required ? ":value:" : ""}`,
    );
    const first = firstWords(command) && `1:argument:(${firstWords(command)})`;
    const words = [...rows, first, "*:file:_files"].filter(Boolean);
    return `    ${command.name()}) _arguments ${words.map(quote).join(" ")} ;;`;
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
  const lines = commands.flatMap((command) => {
    const after = `__fish_seen_subcommand_from ${command.name()}`;
    const first = `complete -c tunerank -n '${after}; and test (count (commandline -opc)) -eq 2' -f -a '${firstWords(command)}'`;
    return [
      `complete -c tunerank -n __fish_use_subcommand -f -a ${command.name()} -d ${quote(command.summary())}`,
      ...(firstWords(command) === "" ? [] : [first]),
      ...optionsOf(command).map(({ long, short, required, description }) => {
        const flags = `-l ${long?.slice(2)}${short ? ` -s ${short.slice(1)}` : ""}${required ? " -r" : ""}`;
        return `complete -c tunerank -n '${after}' ${flags} -d ${quote(description)}`;
      }),
    ];
  });
  return lines.join("\n");
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
