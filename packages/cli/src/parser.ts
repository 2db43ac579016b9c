import yargs, { type Argv, type Options } from 'yargs';
import { didYouMean } from '../../../src/contract/warnings/suggestion.js';
import type { Command, ExitCode } from './command.js';
import { createCommandContext } from './command-context.js';
import { COMMANDS, type CommandEntry, GROUPS, groupOf, NAME, nameOf } from './command-table.js';
import { GLOBAL_OPTIONS, type GlobalArgs } from './context.js';
import { CliError, messageOf, UsageError } from './errors.js';
import { STDIN_PATH } from './files/read-text.js';
import type { Surroundings } from './surroundings.js';
import { VERSION } from './version.js';

const MAX_COLUMNS = 110;

/** Runs the command that the words name. Throws what it throws, and a `UsageError` for words that no command has. */
export async function runParsed(words: readonly string[], surroundings: Surroundings): Promise<ExitCode> {
  let code: ExitCode = 0;
  let printed = '';
  let isRunning = false;
  const parser = createParser(surroundings, async (command, args) => {
    demandSingle(command, args);
    isRunning = true;
    code = await command.run(createCommandContext(surroundings, args), args);
  });
  const given = words.map((word) => (word === '-' ? STDIN_PATH : word));
  try {
    await parser.parseAsync(given, {}, (_error, _args, output) => {
      printed = output;
    });
  } catch (error) {
    if (isRunning || error instanceof CliError) throw error;
    const text = (await unknownOption(words)) ?? messageOf(error);
    throw new UsageError(text.charAt(0).toLowerCase() + text.slice(1), helpHint(words));
  }
  if (printed !== '') await surroundings.stdout.write(`${printed}\n`);
  return code;
}

/** The command that the words begin with. */
function entryOf(words: readonly string[]): CommandEntry | undefined {
  const line = `${words.join(' ')} `;
  return COMMANDS.find((one) => line.startsWith(`${nameOf(one)} `));
}

/** What is wrong with the first option that a command does not have. The parser tells of a missing one instead. */
async function unknownOption(words: readonly string[]): Promise<string | undefined> {
  const entry = entryOf(words);
  if (entry === undefined) return undefined;
  const options: Readonly<Record<string, Options>> = (await entry.load()).command.options;
  const known = Object.entries({ ...GLOBAL_OPTIONS, ...options, help: {}, version: {} })
    .flatMap(([name, { alias = [] }]: [string, Options]) => [name, alias].flat())
    .map((name) => `--${name}`);
  const end = words.indexOf('--');
  const unknown = (end === -1 ? words : words.slice(0, end))
    .filter((word) => word.startsWith('--'))
    .map((word) => word.replace(/=.*$/s, ''))
    // The parser takes --dryRun for --dry-run.
    .find((word) => !known.includes(word.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)));
  return unknown === undefined ? undefined : `unknown option ${unknown}${didYouMean(unknown, known)}`;
}

/** Where to read how the command of the words is used. */
function helpHint(words: readonly string[]): string {
  const entry = entryOf(words);
  return `See ${NAME}${entry === undefined ? '' : ` ${nameOf(entry)}`} --help.`;
}

type Invoke = (command: Command, args: GlobalArgs & { readonly [name: string]: unknown }) => Promise<void>;

function createParser({ stdout }: Surroundings, invoke: Invoke): Argv {
  const parser = yargs([])
    .scriptName(NAME)
    .usage('Controls as code for the Control Enforcement Service.\n\nUsage: $0 <command> [options]')
    .locale('en')
    .wrap(Math.min(MAX_COLUMNS, stdout.columns ?? MAX_COLUMNS))
    .parserConfiguration({
      'boolean-negation': false,
      'parse-numbers': false,
    })
    .options(GLOBAL_OPTIONS)
    .group(Object.keys(GLOBAL_OPTIONS), 'Options of every command:')
    .version(VERSION)
    .help()
    .alias('h', 'help')
    .strict()
    .recommendCommands()
    .demandCommand(1, 'name a command')
    .exitProcess(false)
    .fail(false);
  for (const entry of COMMANDS) {
    if (groupOf(entry) === undefined) addCommand(parser, entry, entry.usage, invoke);
  }
  for (const [word, summary] of Object.entries(GROUPS)) {
    parser.command(word, summary, (group: Argv) => {
      for (const entry of COMMANDS.filter((one) => groupOf(one) === word)) {
        addCommand(group, entry, entry.usage.slice(word.length + 1), invoke);
      }
      return group.demandCommand(1, `name a command of ${word}`);
    });
  }
  return parser;
}

function addCommand(parser: Argv, entry: CommandEntry, usage: string, invoke: Invoke): void {
  const build = (inner: Argv, { positionals, options, examples }: Command): Argv => {
    for (const [name, positional] of Object.entries(positionals)) inner.positional(name, positional);
    inner.options(options).usage(`$0 ${entry.usage}\n\n${entry.summary}.`);
    // Not as examples of the parser, which breaks lines within them.
    inner.epilogue(`Examples:\n${examples.map(({ line, does }) => `  ${line}\n      ${does}`).join('\n')}`);
    return inner;
  };
  parser.command(
    usage,
    entry.summary,
    async (inner: Argv) => build(inner, (await entry.load()).command),
    async (args) => invoke((await entry.load()).command, args as GlobalArgs & Record<string, unknown>),
  );
}

/** The parser makes a list of an option that is given twice. */
function demandSingle({ options }: Command, args: { readonly [name: string]: unknown }): void {
  for (const [name, option] of Object.entries<Options>({ ...GLOBAL_OPTIONS, ...options })) {
    if (option.array === true || !Array.isArray(args[name])) continue;
    throw new UsageError(`--${name} is given more than once`, `See ${NAME} --help.`);
  }
}
