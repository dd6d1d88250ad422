import { commands, optionsOf } from "./commands.js";
import { type Context, UsageError } from "./context.js";

const shells: Readonly<Record<string, () => string>> = { bash, zsh, fish };

/** `tunerank completion SHELL` */
export async function run({ positionals, terminal }: Context): Promise<void> {
  const [shell = ""] = positionals;
  const write = Object.hasOwn(shells, shell) ? shells[shell] : undefined;
  if (write === undefined) throw new UsageError(`SHELL must be one of ${Object.keys(shells).join(", ")}.`);
  terminal.print(write());
}

const names: readonly string[] = Object.keys(commands);

function flagsOf(name: string): string[] {
  return Object.keys(optionsOf(name)).map((option) => `--${option}`);
}

// Where no option is asked for, the shell completes file names by itself.
function bash(): string {
  const cases = names.map((name) => `    ${name}) words="${words(name)}" ;;`);
  return `_tunerank() {
  local current="\${COMP_WORDS[COMP_CWORD]}" words=""
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${names.join(" ")} help --help --version" -- "$current"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${cases.join("\n")}
  esac
  case "$current" in
    -*) COMPREPLY=($(compgen -W "$words" -- "$current")) ;;
    *) [ "\${COMP_WORDS[1]}" = completion ] && COMPREPLY=($(compgen -W "${Object.keys(shells).join(" ")}" -- "$current")) ;;
  esac
}
complete -o default -F _tunerank tunerank`;
}

function words(name: string): string {
  return flagsOf(name).join(" ");
}

function zsh(): string {
  const described = names.map((name) => `    ${quote(`${name}:${commands[name]?.summary}`)}`);
  const cases = names.map((name) => {
    const rows = Object.entries(optionsOf(name)).map(([option, { type, text }]) =>
      quote(`--${option}[${bracketed(text)}]${type === "string" ? `:${option}:` : ""}`),
    );
    const last =
      name === "completion" ? quote(`1:shell:(${Object.keys(shells).join(" ")})`) : quote("*:file:_files");
    return `    ${name}) _arguments ${[...rows, last].join(" ")} ;;`;
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

function fish(): string {
  const lines = names.flatMap((name) => [
    `complete -c tunerank -n __fish_use_subcommand -f -a ${name} -d ${quote(commands[name]?.summary ?? "")}`,
    ...Object.entries(optionsOf(name)).map(
      ([option, { type, short, text }]) =>
        `complete -c tunerank -n '__fish_seen_subcommand_from ${name}' -l ${option}${short ? ` -s ${short}` : ""}${type === "string" ? " -r" : ""} -d ${quote(text)}`,
    ),
  ]);
  return lines.join("\n");
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

// Brackets and colons have a meaning in a specification of zsh.
function bracketed(text: string): string {
  return text.replace(/[[\]:\\]/g, "\\$&");
}
