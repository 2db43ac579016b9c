import type { CommandEntry } from './command-table.js';

export const NAME = 'control-enforcement';

/** The words of a command without its arguments. */
export function nameOf({ usage }: CommandEntry): string {
  return usage.replace(/ [<[].*$/, '');
}

/** The first word of a command of two words. */
export function groupOf(entry: CommandEntry): string | undefined {
  const [word = '', second] = nameOf(entry).split(' ');
  return second === undefined ? undefined : word;
}
