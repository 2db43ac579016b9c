import { isObject, type JsonObject, type JsonValue } from '../../../packages/exact-json/src/index.js';

/** Time of evaluation relative to the step. */
export const STAGES = ['pre', 'post'] as const;
export type Stage = (typeof STAGES)[number];

/** The step an agent is about to take, or has taken. */
export interface Step {
  readonly type: string;
  readonly name: string;
  readonly input: JsonValue;
  readonly output: JsonValue;
  readonly context: JsonObject | null;
}

/** What a value without a text takes about. */
const VALUE_LENGTH = 8;

/** About how many characters the data of a step have in memory, without printing them: to bound what waits. */
export function stepLength({ type, name, input, output, context }: Step): number {
  return type.length + name.length + lengthOf(input) + lengthOf(output) + lengthOf(context);
}

function lengthOf(value: JsonValue): number {
  if (typeof value === 'string') return VALUE_LENGTH + value.length;
  let length = VALUE_LENGTH;
  if (Array.isArray(value)) for (const item of value) length += lengthOf(item);
  else if (isObject(value)) {
    for (const [name, member] of Object.entries(value)) length += name.length + lengthOf(member);
  }
  return length;
}
