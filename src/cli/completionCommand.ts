import { type Context, UsageError } from "./context.js";
import { operationIds } from "./operations.js";
import { commands, shells } from "./program.js";

export async function run({ args, terminal }: Context): Promise<void> {
  const shell = shells.find((each) => each === args[0]);
  if (shell === undefined) throw new UsageError(`SHELL must be one of ${shells.join(", ")}.`);
  // zsh runs completions that were written for bash.
  const zsh = `#compdef tunerank\nautoload -U +X bashcompinit && bashcompinit\n${bash()}`;
  terminal.write(`${{ bash: bash(), zsh, fish: fish() }[shell]}\n`);
}

// Each command with its options, and with what its first argument can be.
const rows = commands.map(({ name, options }) => ({
  ...{ name, words: options.map(({ long }) => long).join(" ") },
  first: { completion: shells, request: operationIds }[name]?.join(" ") ?? "",
}));
const names = `${commands.map(({ name }) => name).join(" ")} help --help --version`;

// If none of its words matches, bash completes file names (`-o default`).
function bash(): string {
  const cases = rows.map(({ name, words, first }) => `    ${name}) words="${words}" first="${first}" ;;`);
  return `_tunerank() {
  local current="\${COMP_WORDS[COMP_CWORD]}" words="" first=""
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${names}" -- "$current"))
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

function fish(): string {
  const lines = rows.flatMap(({ name, words, first }) => {
    const after = `complete -c tunerank -n '__fish_seen_subcommand_from ${name}`;
    const second = `${after}; and test (count (commandline -opc)) -eq 2' -f -a '${first}'`;
    return [`${after}' -a '${words}'`, ...(first === "" ? [] : [second])];
  });
  return [`complete -c tunerank -n __fish_use_subcommand -f -a '${names}'`, ...lines].join("\n");
}
