import { CliError } from '../errors.js';
import { plain } from '../output.js';

/** What is wrong, or to be noted, at a place of a file; the line and the column are from 1. */
export interface FileProblem {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** How bad what lint finds is, from the least to the worst. */
export const SEVERITY_NAMES = ['note', 'warning', 'error'] as const;

/** Most problems that are printed. */
const MAX_SHOWN = 100;

/** `FILE:LINE:COLUMN: message`, which editors and CI systems understand. */
export function problemLine({ file, line, column, message }: FileProblem): string {
  return plain(`${file}:${line}:${column}: ${message.replaceAll('\n', ' ')}`);
}

/** Files that cannot be used: its message has a line for each problem. */
export class FilesError extends CliError {
  readonly problems: readonly FileProblem[];

  constructor(problems: readonly FileProblem[]) {
    const shown = problems.slice(0, MAX_SHOWN).map(problemLine);
    const more = problems.length - shown.length;
    super([...shown, ...(more > 0 ? [`and ${more} more`] : [])].join('\n'));
    this.name = 'FilesError';
    this.problems = problems;
  }
}

/** `data.and[0].selector` → `['data', 'and', 0, 'selector']`. */
export function pathParts(text: string): PropertyKey[] {
  return (text.match(/[^.[\]]+/g) ?? []).map((part) => (/^[0-9]+$/.test(part) ? Number(part) : part));
}
