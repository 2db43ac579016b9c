import type { Options } from 'yargs';
import { COMMANDS, nameOf } from './command-table.js';
import { GLOBAL_OPTIONS } from './context.js';

type OptionTable = { readonly [name: string]: Options };

/**
 * What may come next, a line each: of the words of a shell, the last one is being typed, and may be empty. Nothing where the
 * shell may complete files, or anything fits. Only the module of the command is loaded, for its options.
 */
export async function completionsOf(words: readonly string[]): Promise<string> {
  const typed = words.at(-1) ?? '';
  const before = words.slice(0, -1);
  const named = COMMANDS.filter((entry) =>
    nameOf(entry)
      .split(' ')
      .every((word) => before.includes(word)),
  );
  const entry = named.find((one) => isPrefix(nameOf(one).split(' '), plainWords(before, GLOBAL_OPTIONS)));
  const command = entry === undefined ? undefined : (await entry.load()).command;
  const options: OptionTable = { ...command?.options, ...GLOBAL_OPTIONS };
  const asked = options[nameOfOption(before.at(-1))];
  if (asked !== undefined && takesValue(asked)) return lines(asked.choices ?? [], typed);
  if (typed.startsWith('-')) {
    const own = [...Object.keys(options), 'help', ...(command === undefined ? ['version'] : [])];
    const open = own.filter((name) => !before.includes(`--${name}`) || options[name]?.array === true);
    return lines(
      open.map((name) => `--${name}`),
      typed,
    );
  }
  const given = plainWords(before, options);
  if (entry === undefined || command === undefined) return lines(nextWords(given), typed);
  const position = given.length - nameOf(entry).split(' ').length;
  return lines(Object.values(command.positionals)[position]?.choices ?? [], typed);
}

/** The words of commands that begin with these. */
function nextWords(given: readonly string[]): readonly string[] {
  const names = COMMANDS.map((entry) => nameOf(entry).split(' '));
  return names.filter((name) => isPrefix(given, name)).map((name) => name[given.length] ?? '');
}

function isPrefix(start: readonly string[], words: readonly string[]): boolean {
  return start.length <= words.length && start.every((word, index) => word === words[index]);
}

/** Words that are neither an option nor its value. */
function plainWords(words: readonly string[], options: OptionTable): readonly string[] {
  return words.filter((word, index) => {
    const before = options[nameOfOption(words[index - 1])];
    return !word.startsWith('-') && (before === undefined || !takesValue(before));
  });
}

function nameOfOption(word: string | undefined): string {
  return word?.startsWith('--') === true ? word.slice(2) : '';
}

function takesValue({ type }: Options): boolean {
  return type !== 'boolean';
}

function lines(found: Iterable<unknown>, typed: string): string {
  const fitting = [...new Set(found)].map(String).filter((word) => word !== '' && word.startsWith(typed));
  return fitting.map((word) => `${word}\n`).join('');
}
