import type { JsonValue } from '@bufbuild/protobuf';
import type { Form } from './form.js';

/** What is wrong at a place of a value, for example at `values[0]` or `limits.max`. An empty path is the whole. */
export interface FieldProblem {
  readonly path: string;
  readonly message: string;
}

/** Problems of a value by what they are about. */
export interface SplitProblems {
  /** Problems of the value itself, and of members that have no field. */
  readonly own: readonly FieldProblem[];
  /** Problems of members, or of items by `[index]`, with paths relative to these. */
  readonly of: ReadonlyMap<string, readonly FieldProblem[]>;
}

/**
 * Gives each problem to the member that its path begins with. Names may contain dots, so the longest name counts.
 * Items of a list are named `[0]`, `[1]` and so on.
 */
export function splitProblems(problems: readonly FieldProblem[], names: readonly string[]): SplitProblems {
  const own: FieldProblem[] = [];
  const of = new Map<string, FieldProblem[]>();
  for (const problem of problems) {
    const { path, message } = problem;
    let longest: string | undefined;
    for (const name of names) {
      if (isBelow(path, name) && (longest === undefined || name.length > longest.length)) longest = name;
    }
    if (longest === undefined) {
      own.push(problem);
      continue;
    }
    const rest = path.slice(longest.length).replace(/^\./, '');
    const there = of.get(longest) ?? [];
    there.push({ path: rest, message });
    of.set(longest, there);
  }
  return { own, of };
}

function isBelow(path: string, name: string): boolean {
  if (name === '' || !path.startsWith(name)) return false;
  const next = path[name.length];
  return next === undefined || next === '.' || next === '[';
}

/** What the page itself finds wrong with a value; null if nothing. Patterns and formats are left to the server. */
export function localProblem(form: Form, value: JsonValue | undefined): string | null {
  if (form.kind === 'number' && typeof value === 'string')
    return value === '' ? null : 'This is not a number.';
  if (form.kind === 'number' && typeof value === 'number') return numberProblem(form, value);
  if (form.kind === 'text' && typeof value === 'string' && value !== '') return lengthProblem(form, value);
  if (form.kind === 'list' && Array.isArray(value)) {
    const { minItems = 0, maxItems = Number.POSITIVE_INFINITY } = form;
    if (value.length < minItems && value.length > 0) return `At least ${minItems} items are needed.`;
    if (value.length > maxItems) return `At most ${maxItems} items are possible.`;
  }
  return null;
}

function numberProblem(form: Extract<Form, { kind: 'number' }>, value: number): string | null {
  const { isInteger, minimum, maximum, exclusiveMinimum, exclusiveMaximum } = form;
  if (isInteger && !Number.isInteger(value)) return 'This must be a whole number.';
  if (minimum !== undefined && value < minimum) return `This must be at least ${minimum}.`;
  if (maximum !== undefined && value > maximum) return `This must be at most ${maximum}.`;
  if (exclusiveMinimum !== undefined && value <= exclusiveMinimum) {
    return `This must be more than ${exclusiveMinimum}.`;
  }
  if (exclusiveMaximum !== undefined && value >= exclusiveMaximum) {
    return `This must be less than ${exclusiveMaximum}.`;
  }
  return null;
}

function lengthProblem(form: Extract<Form, { kind: 'text' }>, value: string): string | null {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY } = form;
  const length = [...value].length;
  if (length < minLength) return `At least ${minLength} characters are needed.`;
  return length > maxLength ? `At most ${maxLength} characters are possible.` : null;
}
