import {
  isObject,
  type JsonObject,
  type JsonValue,
  parseStoredJson,
} from '../../../packages/exact-json/src/index.js';

/** A registered step of an agent, as needed for comparison with controls. */
export interface RegisteredStep {
  readonly type: string;
  readonly name: string;
  readonly input_schema: JsonObject | null;
  readonly output_schema: JsonObject | null;
}

/** Registered steps of agents. */
export interface StepCatalogue {
  /** Owner of these steps, for sentences such as `… by any agent`. */
  readonly owner: string;
  readonly steps: RegisteredStep[];
  /** Whether they are the steps of one agent. */
  readonly isOfAgent: boolean;
  /** False when the steps of some agents were not read. */
  readonly isComplete: boolean;
}

export function emptyCatalogue(owner: string, isOfAgent = false): StepCatalogue {
  return { owner, steps: [], isOfAgent, isComplete: true };
}

/** Adds the steps of a stored registration. Unreadable parts are skipped. */
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

/** Identifies a step of an agent. */
export type StepKey = { type: string; name: string };

/** The key of a step as one text. */
export function stepKey({ type, name }: StepKey): string {
  // The length distinguishes ("a", "bc") from ("ab", "c"), whatever characters they contain.
  return `${type.length}:${type}${name}`;
}

/** Sorts steps by type, then name. */
export function compareSteps(a: StepKey, b: StepKey): number {
  return compareTexts(a.type, b.type) || compareTexts(a.name, b.name);
}

/** Compares texts by code units, the same in every locale. */
export function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
