import { Decimal } from '../../exact-json/src/index.js';
import { StepDataError } from './errors.js';
import { changedBy } from './modification.js';
import { isPlainObject, jsonForm, jsonText, MAX_DEPTH } from './step-json.js';
import type { PatchOperation } from './types.js';

/** Most causes of an error that are shown. */
const MAX_CAUSES = 8;

/**
 * The input of a step, from the arguments of a tool: the first one. Frameworks call tools with further arguments, which
 * hold options and the conversation; these are never part of a step. Throws a StepDataError if the first argument is not
 * an object with members: selectors such as `input.text` would select nothing.
 */
export function inputOf(step: string, args: readonly unknown[]): unknown {
  const [first] = args;
  if (isPlainObject(first)) return first;
  if (first === undefined && args.every((one) => one === undefined)) return {};
  throw new StepDataError(
    `Step "${step}" did not run: its first argument is ${kindOf(first)}, not a plain object, so controls cannot ` +
      'select its members. Set the option "input" of guard, for example input: (text) => ({ text }).',
    step,
    'pre',
  );
}

/** What a tool is given of an argument that controls look at. */
export interface CheckedCopy {
  readonly value: unknown;
  /** Whether nothing of it is shared with the caller, who could change it while it is checked. */
  readonly isWhole: boolean;
}

/**
 * A copy of plain data, each member read once: its getters have their values, and members that controls do not see, such as
 * hidden ones and those with symbols, are not there. Objects of a class and what says of itself how it looks as JSON, such as
 * dates, stay what they are.
 */
export function checkedCopy(given: unknown): CheckedCopy {
  let isWhole = true;
  const copied = (value: unknown, depth: number): unknown => {
    if (typeof value !== 'object' || value === null || value instanceof Decimal) return value;
    const isList = Array.isArray(value);
    // Deeper data are refused when they are read for controls.
    if (depth >= MAX_DEPTH || 'toJSON' in value || !(isList || isPlainObject(value))) {
      isWhole = false;
      return value;
    }
    if (isList) return Array.from(value, (item: unknown) => copied(item, depth + 1));
    // Unlike assignments this creates a member for "__proto__", too.
    return Object.fromEntries(Object.keys(value).map((key) => [key, copied(value[key], depth + 1)]));
  };
  const value = copied(given, 0);
  return { value, isWhole };
}

/** The JSON form of an input or an output. Throws a StepDataError for what controls could not look at. */
export function readable(value: unknown, step: string, member: 'input' | 'output'): unknown {
  try {
    if (value === undefined) return null;
    return jsonForm(value, member) ?? null;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const [what, stage] =
      member === 'input'
        ? (['did not run', 'pre'] as const)
        : (['ran, and its result is withheld', 'post'] as const);
    throw new StepDataError(
      `Step "${step}" ${what}: ${error.message}. Set the option "${member}" of guard to a function that returns plain data.`,
      step,
      stage,
    );
  }
}

/** Data of a step after its changes. Throws a StepDataError if they cannot be changed so: then the step must not proceed. */
export function changedData(
  step: string,
  patch: readonly PatchOperation[],
  member: 'input' | 'output',
  value: unknown,
): unknown {
  try {
    const changed = changedBy(patch, member, value);
    jsonForm(changed, member);
    // What an approver writes may have a number that JavaScript does not have, and tools do not know.
    if (patch.some((operation) => 'value' in operation && holdsDecimal(operation.value))) {
      throw new TypeError(`${member} has a number that JavaScript does not have`);
    }
    return changed;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const [what, stage] =
      member === 'input'
        ? (['did not run', 'pre'] as const)
        : (['ran, and its result is withheld', 'post'] as const);
    const message = `Step "${step}" ${what}: it may proceed with a changed ${member} only, and this one cannot be changed: ${error.message}.`;
    throw new StepDataError(message, step, stage);
  }
}

/** Whether JSON has a number that is neither a double nor a whole one. */
function holdsDecimal(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return value instanceof Decimal || Object.values(value).some(holdsDecimal);
}

/** Throws a StepDataError if the input of a step is not what was checked. */
export function checkUnchanged(step: string, before: unknown, now: unknown): void {
  if (jsonText(jsonForm(before, 'input')) === jsonText(jsonForm(now, 'input'))) return;
  throw new StepDataError(
    `Step "${step}" did not run: its arguments have changed since they were checked. Give them to a new call.`,
    step,
    'pre',
  );
}

/** Ends a stream that is withheld: nothing else can end its source. Rejects never. */
export async function discard(result: unknown): Promise<void> {
  const stream = result instanceof Response ? result.body : result;
  // A stream that the tool itself reads cannot be cancelled, and ends with its reader.
  if (stream instanceof ReadableStream) await stream.cancel().catch(() => {});
}

/** What a model could see of a thrown value, as the output of the step: names, messages, members, causes. */
export function thrownData(thrown: unknown, step: string): unknown {
  const shown = (value: unknown, depth: number): unknown => {
    if (!(value instanceof Error) || depth > MAX_CAUSES)
      return value instanceof Error ? String(value) : value;
    const { name, message, cause } = value;
    const inner =
      value instanceof AggregateError ? { errors: value.errors.map((one) => shown(one, depth + 1)) } : {};
    const text = String(value);
    return {
      ...members(value),
      name,
      message,
      ...(text === `${name}: ${message}` || text === name ? {} : { text }),
      ...inner,
      ...(cause === undefined ? {} : { cause: shown(cause, depth + 1) }),
    };
  };
  return readable({ error: shown(thrown, 0) }, step, 'output');
}

/** Longest text of the error of a step, in UTF-16 code units, as the service takes it. */
const MAX_ERROR_LENGTH = 4_096;

/** Why a tool failed, as the service is told it. */
export function errorText(thrown: unknown): string {
  let text: string;
  try {
    text = typeof thrown === 'object' && !(thrown instanceof Error) ? JSON.stringify(thrown) : String(thrown);
  } catch {
    text = 'the tool failed with a value that cannot be shown';
  }
  // Not in the middle of a character.
  return text.slice(0, MAX_ERROR_LENGTH).replace(/[\ud800-\udbff]$/, '');
}

/** Own members of an error that can be shown; those of a class, such as a response, are shown as their text. */
function members(error: Error): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(error)) {
    try {
      const json = jsonForm(value, name);
      if (json !== undefined) found[name] = json;
    } catch {
      found[name] = String(value);
    }
  }
  return found;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return `an object of the class ${value.constructor?.name ?? 'unknown'}`;
  return (
    { string: 'a text', undefined: 'missing', function: 'a function' }[typeof value as string] ??
    `a ${typeof value}`
  );
}
