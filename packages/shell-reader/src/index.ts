export { readExpansions, readShell } from './command-reader.js';
export type { Assignment, Problem, Redirect, ShellVisitor, SimpleCommand, Word } from './types.js';
export { UNKNOWN } from './word-draft.js';
