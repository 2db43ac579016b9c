import { CommandReader } from './command-reader.js';
import { type Problem, type ShellVisitor, Unreadable } from './types.js';

/**
 * Reads the commands of a shell: POSIX.1-2024, Shell Command Language, with the usual extensions of bash. Runs nothing, in
 * time linear in the length of the text. Tells the visitor what it finds; returns why the rest cannot be read, or undefined.
 * A text that shells read in different ways cannot be read. Never throws, unless the visitor does.
 */
export const readShell = (text: string, visitor: ShellVisitor): Problem | undefined =>
  read(text, visitor, 'readAll');

/** Reads only the expansions in a text, as a shell does with arithmetic, subscripts and prompts. */
export const readExpansions = (text: string, visitor: ShellVisitor): Problem | undefined =>
  read(text, visitor, 'readExpansions');

function read(text: string, visitor: ShellVisitor, how: 'readAll' | 'readExpansions'): Problem | undefined {
  // No shell can be given this character, and values of words use it.
  const nothing = text.indexOf('\0');
  if (nothing >= 0) return { message: 'it contains a null character', at: nothing };
  try {
    new CommandReader(visitor, text, 0, text.length, 0)[how]();
    return undefined;
  } catch (error) {
    if (error instanceof Unreadable) return { message: error.message, at: error.at };
    throw error;
  }
}
