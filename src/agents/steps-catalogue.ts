import { isObject, type JsonObject, type JsonValue } from '../json/json-value.js';
import { parseStoredJson } from '../json/parse-json.js';

/** A step that an agent has registered, as far as controls can be compared with it. */
export interface RegisteredStep {
  readonly type: string;
  readonly name: string;
  readonly input_schema: JsonObject | null;
  readonly output_schema: JsonObject | null;
}

/** Steps that agents have registered. */
export interface StepCatalogue {
  /** Whose steps these are, for sentences such as `… by any agent`. */
  readonly owner: string;
  readonly steps: RegisteredStep[];
  /** False when there are agents whose steps were not looked at. */
  readonly isComplete: boolean;
}

export function emptyCatalogue(owner: string): StepCatalogue {
  return { owner, steps: [], isComplete: true };
}

/** Adds the steps of a stored registration. What cannot be read of it is left out. */
export function addSteps({ steps }: StepCatalogue, stored: string): void {
  for (const step of stepsOf(stored)) {
    if (!isObject(step)) continue;
    const { type, name } = step;
    if (typeof type !== 'string' || typeof name !== 'string') continue;
    steps.push({
      type,
      name,
      input_schema: schemaOf(step, 'input_schema'),
      output_schema: schemaOf(step, 'output_schema'),
    });
  }
}

function stepsOf(stored: string): readonly JsonValue[] {
  try {
    const registration = parseStoredJson(stored);
    return isObject(registration) && Array.isArray(registration.steps) ? registration.steps : [];
  } catch {
    return [];
  }
}

function schemaOf(step: JsonObject, member: string): JsonObject | null {
  const schema = Object.hasOwn(step, member) ? step[member] : null;
  return isObject(schema) ? schema : null;
}

/** What tells one step of an agent from another. */
export type StepKey = { type: string; name: string };

/** The key of a step as one text. */
export function stepKey({ type, name }: StepKey): string {
  // The length keeps ("a", "bc") and ("ab", "c") apart, whatever characters they hold.
  return `${type.length}:${type}${name}`;
}

/** Sorts steps by type, then name. */
export function compareSteps(a: StepKey, b: StepKey): number {
  return compareTexts(a.type, b.type) || compareTexts(a.name, b.name);
}

/** Sorts texts by their code units, the same in every locale. */
export function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
