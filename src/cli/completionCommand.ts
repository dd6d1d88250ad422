import { type Context, UsageError } from "./context.js";
import { operationIds } from "./operations.js";
import { type Command, commands, shells } from "./program.js";

export async function run({ args, terminal }: Context): Promise<void> {
  const shell = shells.find((each) => each === args[0]);
  if (shell === undefined) throw new UsageError(`SHELL must be one of ${shells.join(", ")}.`);
  // zsh runs completions that were written for bash.
  const zsh = `#compdef tunerank\nautoload -U +X bashcompinit && bashcompinit\n${bash()}`;
  terminal.write(`${{ bash: bash(), zsh, fish: fish() }[shell]}\n`);
}

const firstOf: Readonly<Record<string, readonly string[]>> = { completion: shells, request: operationIds };
const wordsOf = ({ name, options }: Command) => ({
  words: options.map(({ long }) => long).join(" "),
  first: firstOf[name]?.join(" ") ?? "",
});

const names = `${commands.map(({ name }) => name).join(" ")} help --help --version`;

// If none of its words matches, bash completes file names (`-o default`).
function bash(): string {
  const cases = commands.map((each) => {
    const { words, first } = wordsOf(each);
    return `    ${each.name}) words="${words}" first="${first}" ;;`;
  });
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
  const lines = commands.flatMap((each) => {
    const after = `complete -c tunerank -n '__fish_seen_subcommand_from ${each.name}`;
    const { words, first } = wordsOf(each);
    const second = `${after}; and test (count (commandline -opc)) -eq 2' -f -a '${first}'`;
    return [`${after}' -a '${words}'`, ...(first === "" ? [] : [second])];
  });
  return [`complete -c tunerank -n __fish_use_subcommand -f -a '${names}'`, ...lines].join("\n");
}
