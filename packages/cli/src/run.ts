import type { ExitCode } from './command.js';
import { CliError, messageOf } from './errors.js';
import { createPaint, hasColours } from './output.js';
import type { Surroundings } from './surroundings.js';

/** The word with which the scripts of `completion` ask what may come next; behind it, the words so far. */
const COMPLETE = '--complete';

/** Runs the command on the words behind its name. Never throws. */
export async function run(words: readonly string[], surroundings: Surroundings): Promise<ExitCode> {
  try {
    const text = await textAtOnce(words);
    if (text === undefined) return await (await import('./parser.js')).runParsed(words, surroundings);
    await surroundings.stdout.write(text);
    return 0;
  } catch (error) {
    if (!surroundings.signal.aborted) await tell(error, surroundings);
    return 1;
  }
}

/** What needs neither the parser nor a command, both of which take longer to load than a person notices at a prompt. */
async function textAtOnce(words: readonly string[]): Promise<string | undefined> {
  const [first = '', ...others] = words;
  if (first === COMPLETE) return (await import('./completions.js')).completionsOf(others);
  if (others.length > 0) return undefined;
  if (first === '--version') return `${(await import('./version.js')).VERSION}\n`;
  return first === '--help' || first === '-h' ? (await import('./help-text.js')).helpText() : undefined;
}

async function tell(error: unknown, surroundings: Surroundings): Promise<void> {
  const { stderr, env } = surroundings;
  const paint = createPaint(hasColours(stderr, env));
  if (error instanceof CliError) {
    const { message, hint } = error;
    const isPlaced = /^[^\n]*?:\d+:\d+: /.test(message);
    await stderr.write(`${isPlaced ? '' : paint('red', 'error: ')}${message}\n`);
    if (hint !== undefined) await stderr.write(`${paint('dim', hint)}\n`);
  } else {
    await stderr.write(`${paint('red', 'error: ')}${messageOf(error)}\n`);
    if (error instanceof Error && env.CONTROL_ENFORCEMENT_DEBUG !== undefined)
      await stderr.write(`${error.stack}\n`);
  }
}
