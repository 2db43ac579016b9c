import yargs, { type Argv, type Options } from 'yargs';
import type { Command, ExitCode } from './command.js';
import { createCommandContext } from './command-context.js';
import { COMMANDS, type CommandEntry, GROUPS } from './command-table.js';
import { FORMATS, type GlobalArgs } from './context.js';
import { CliError, messageOf, UsageError } from './errors.js';
import { STDIN_PATH } from './files/read-text.js';
import { createPaint, hasColours } from './output.js';
import type { Surroundings } from './surroundings.js';
import { VERSION } from './version.js';

export const NAME = 'control-enforcement';
const MAX_COLUMNS = 110;

const GLOBAL_OPTIONS = {
  server: { type: 'string', describe: 'Address of the server, for example https://controls.example.com' },
  context: { type: 'string', describe: 'Name of a context that login has made' },
  namespace: { type: 'string', describe: 'Namespace that the key must be of, and the documents' },
  output: { type: 'string', choices: FORMATS, describe: 'Form of the output' },
  key: { type: 'string', describe: 'API key; others on this machine can see it. Better: login' },
} as const;

/** Runs the command on the words behind its name. Never throws. */
export async function run(words: readonly string[], surroundings: Surroundings): Promise<ExitCode> {
  let code: ExitCode = 0;
  let printed = '';
  const parser = createParser(surroundings, async (command, args) => {
    demandSingle(command, args);
    code = await command.run(createCommandContext(surroundings, args), args);
  });
  try {
    const given = words.map((word) => (word === '-' ? STDIN_PATH : word));
    await parser.parseAsync(given, {}, (_error, _args, output) => {
      printed = output;
    });
    if (printed !== '') await surroundings.stdout.write(`${printed}\n`);
    return code;
  } catch (error) {
    if (surroundings.signal.aborted) return 1;
    await tell(error, surroundings);
    return 1;
  }
}

/** The words of a shell so far, as completions. */
export async function completionsOf(words: readonly string[], surroundings: Surroundings): Promise<string> {
  const loaded = new Map<CommandEntry, Command>();
  for (const entry of COMMANDS) {
    if (words.includes(nameOf(entry).split(' ').at(-1) ?? ''))
      loaded.set(entry, (await entry.load()).command);
  }
  // The parser asks itself again for the options of a command, with the words that it was made with.
  const asked = ['--get-yargs-completions', NAME, ...words];
  let printed = '';
  createParser(surroundings, async () => {}, { words: asked, loaded }).parse(
    asked,
    {},
    (_error, _args, output) => {
      printed = output === '' ? printed : `${output}\n`;
    },
  );
  return printed;
}

type Invoke = (command: Command, args: GlobalArgs & { readonly [name: string]: unknown }) => Promise<void>;

function createParser(
  { stdout }: Surroundings,
  invoke: Invoke,
  {
    words = [],
    loaded,
  }: { readonly words?: string[]; readonly loaded?: ReadonlyMap<CommandEntry, Command> } = {},
): Argv {
  const parser = yargs(words)
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
  const plainEntries = COMMANDS.filter((entry) => groupOf(entry) === undefined);
  for (const entry of plainEntries) addCommand(parser, entry, entry.usage, invoke, loaded);
  for (const [word, summary] of Object.entries(GROUPS)) {
    parser.command(word, summary, (group: Argv) => {
      for (const entry of COMMANDS.filter((one) => groupOf(one) === word)) {
        addCommand(group, entry, entry.usage.slice(word.length + 1), invoke, loaded);
      }
      return group.demandCommand(1, `name a command of ${word}`);
    });
  }
  return parser;
}

function addCommand(
  parser: Argv,
  entry: CommandEntry,
  usage: string,
  invoke: Invoke,
  loaded: ReadonlyMap<CommandEntry, Command> | undefined,
): void {
  const build = (inner: Argv, { positionals, options, examples }: Command): Argv => {
    for (const [name, positional] of Object.entries(positionals)) inner.positional(name, positional);
    inner.options(options).usage(`$0 ${entry.usage}\n\n${entry.summary}.`);
    // Not as examples of the parser, which breaks lines within them.
    inner.epilogue(`Examples:\n${examples.map(({ line, does }) => `  ${line}\n      ${does}`).join('\n')}`);
    return inner;
  };
  const known = loaded?.get(entry);
  parser.command(
    usage,
    entry.summary,
    // Completion asks without waiting, and only for commands that are named.
    loaded === undefined
      ? async (inner: Argv) => build(inner, (await entry.load()).command)
      : (inner: Argv) => (known === undefined ? inner : build(inner, known)),
    async (args) => invoke((await entry.load()).command, args as GlobalArgs & Record<string, unknown>),
  );
}

/** The parser makes a list of an option that is given twice. */
function demandSingle({ options }: Command, args: { readonly [name: string]: unknown }): void {
  for (const [name, option] of Object.entries<Options>({
    ...GLOBAL_OPTIONS,
    ...options,
  })) {
    if (option.array === true || !Array.isArray(args[name])) continue;
    throw new UsageError(`--${name} is given more than once`, `See ${NAME} --help.`);
  }
}

/** The words of a command without its arguments. */
export function nameOf({ usage }: CommandEntry): string {
  return usage.replace(/ [<[].*$/, '');
}

function groupOf(entry: CommandEntry): string | undefined {
  const [word = '', second] = nameOf(entry).split(' ');
  return second === undefined ? undefined : word;
}

async function tell(error: unknown, { stderr, env }: Surroundings): Promise<void> {
  const paint = createPaint(hasColours(stderr, env));
  if (error instanceof CliError) {
    const { message, hint } = error;
    const isPlaced = /^[^\n]*?:\d+:\d+: /.test(message);
    await stderr.write(`${isPlaced ? '' : paint('red', 'error: ')}${message}\n`);
    if (hint !== undefined) await stderr.write(`${paint('dim', hint)}\n`);
  } else if (error instanceof Error && error.name === 'YError') {
    await tell(new UsageError(firstLower(error.message), `See ${NAME} --help.`), {
      stderr,
      env,
    } as Surroundings);
  } else {
    await stderr.write(`${paint('red', 'error: ')}${messageOf(error)}\n`);
    if (error instanceof Error && env.CONTROL_ENFORCEMENT_DEBUG !== undefined)
      await stderr.write(`${error.stack}\n`);
  }
}

function firstLower(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
