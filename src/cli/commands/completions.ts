/** Prints shell completions. All words come from the command tree, so they cannot differ from the verbs and their options. */
import type { Command, Option } from 'commander'

export type Shell = 'bash' | 'zsh' | 'fish'

/** Returns the script that completes the commands of a program. */
export function completionScript(shell: Shell, program: Command): string {
  const commands = readCommands(program, [])
  if (shell === 'fish') return fishScript(program.name(), commands)
  const script = bashScript(program.name(), commands)
  return shell === 'bash' ? script : `autoload -U +X bashcompinit && bashcompinit\n${script}`
}

interface CompletedCommand {
  /** `[]` for the program, `['keys', 'add']` for a verb in a group. */
  readonly path: readonly string[]
  readonly subcommands: readonly { readonly name: string; readonly description: string }[]
  readonly options: readonly CompletedOption[]
  /** Choices of each argument; empty if it is free. */
  readonly argumentChoices: readonly (readonly string[])[]
}

interface CompletedOption {
  /** `-o`, `--output`. */
  readonly flags: readonly string[]
  readonly description: string
  readonly takesValue: boolean
  readonly choices: readonly string[]
}

function readCommands(command: Command, path: readonly string[]): CompletedCommand[] {
  const help = command.createHelp()
  const children = help.visibleCommands(command).filter((child) => command.commands.includes(child))
  return [
    {
      path,
      subcommands: help.visibleCommands(command).map((child) => ({
        name: child.name(),
        description: child.description(),
      })),
      options: help.visibleOptions(command).map(readOption),
      argumentChoices: command.registeredArguments.map(({ argChoices = [] }) => argChoices),
    },
    ...children.flatMap((child) => readCommands(child, [...path, child.name()])),
  ]
}

function readOption({ short, long, description, required, optional, argChoices = [] }: Option): CompletedOption {
  const flags = [short, long].filter((flag) => flag !== undefined)
  return { flags, description, takesValue: required || optional, choices: argChoices }
}

/**
 * Returns a bash function. It walks over the words before the cursor, and so knows the verb, how many arguments it has, and
 * whether the cursor is at the value of an option. Where it offers no word, bash completes names of files. In zsh, `path` and
 * `words` are variables of the shell, so the function must not use these names; its second argument is empty there.
 */
function bashScript(name: string, commands: readonly CompletedCommand[]): string {
  const pattern = (path: readonly string[], word: string) => quote(['', ...path, word].join(' '))
  const clause = (patterns: readonly string[], action: string) =>
    patterns.length === 0 ? [] : [`${patterns.join('|')}) ${action} ;;`]
  const groups = commands.flatMap(({ path, subcommands }) => subcommands.map((child) => pattern(path, child.name)))
  const valued = commands.flatMap(({ path, options }) =>
    options.filter(({ takesValue }) => takesValue).flatMap(({ flags }) => flags.map((flag) => pattern(path, flag))),
  )
  const values = commands.flatMap(({ path, options }) =>
    options.flatMap(({ flags, choices }) =>
      choices.length === 0
        ? []
        : clause(
            flags.map((flag) => pattern(path, flag)),
            `offered=${quote(choices.join(' '))}`,
          ),
    ),
  )
  const flagWords = commands.map(({ path, options }) => {
    return `${quote(['', ...path].join(' '))}) offered=${quote(options.flatMap(({ flags }) => flags).join(' '))} ;;`
  })
  const argumentWords = commands.flatMap(({ path, subcommands, argumentChoices }) => [
    ...(subcommands.length === 0
      ? []
      : [`${pattern(path, '0')}) offered=${quote(subcommands.map((child) => child.name).join(' '))} ;;`]),
    ...argumentChoices.flatMap((choices, index) =>
      choices.length === 0 ? [] : [`${pattern(path, String(index))}) offered=${quote(choices.join(' '))} ;;`],
    ),
  ])
  const indented = (lines: readonly string[], depth: number) => lines.map((line) => `${' '.repeat(depth)}${line}`)
  return `${[
    `_${name}() {`,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a parameter expansion of bash
    '  local current="${COMP_WORDS[COMP_CWORD]}" verb="" offered="" count=0 index word',
    '  for ((index = 1; index < COMP_CWORD; index++)); do',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a parameter expansion of bash
    '    word="${COMP_WORDS[index]}"',
    '    case "$verb $word" in',
    ...indented([...clause(groups, 'verb="$verb $word" count=0'), ...clause(valued, '((index++))')], 6),
    '      *) [[ $word == -* ]] || ((count++)) ;;',
    '    esac',
    '  done',
    '  if ((index > COMP_CWORD)); then # at the value of an option',
    '    case "$verb $word" in',
    ...indented(values, 6),
    '    esac',
    '  elif [[ $current == -* ]]; then',
    '    case "$verb" in',
    ...indented(flagWords, 6),
    '    esac',
    '  else',
    '    case "$verb $count" in',
    ...indented(argumentWords, 6),
    '    esac',
    '  fi',
    '  COMPREPLY=($(compgen -W "$offered" -- "$current"))',
    '}',
    `complete -o default -F _${name} ${name}`,
  ].join('\n')}\n`
}

function fishScript(name: string, commands: readonly CompletedCommand[]): string {
  const lines = commands.flatMap(({ path, subcommands, options, argumentChoices }) => {
    const seen = path.map((word) => `__fish_seen_subcommand_from ${word}`)
    const names = subcommands.map((child) => child.name)
    const none = names.length === 0 ? [] : [`not __fish_seen_subcommand_from ${names.join(' ')}`]
    const begin = (conditions: readonly string[]) =>
      `complete -c ${name}${conditions.length === 0 ? '' : ` -n ${quote(conditions.join('; and '))}`}`
    return [
      ...subcommands.map((child) => `${begin([...seen, ...none])} -f -a ${child.name} -d ${quote(child.description)}`),
      ...argumentChoices.flatMap((choices) =>
        choices.length === 0
          ? []
          : [
              `${begin([...seen, `not __fish_seen_subcommand_from ${choices.join(' ')}`])} -f -a ${quote(choices.join(' '))}`,
            ],
      ),
      ...options.map(({ flags, description, takesValue, choices }) => {
        const spellings = flags.map((flag) => (flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`))
        const value = choices.length > 0 ? ` -x -a ${quote(choices.join(' '))}` : takesValue ? ' -r' : ''
        return `${begin([...seen, ...none])} ${spellings.join(' ')}${value} -d ${quote(description)}`
      }),
    ]
  })
  return `${lines.join('\n')}\n`
}

/** Quotes a text for bash, zsh and fish. A single quote becomes a typographic one, because the shells escape it differently. */
function quote(text: string): string {
  return `'${text.replaceAll("'", '’').replaceAll('\\', '/')}'`
}
