import type { JsonObject, JsonValue } from '../../../packages/exact-json/src/index.js';
import {
  compileRegisteredSchema,
  type RegisteredSchema,
  SchemaError,
  type SchemaProblem,
  STEPS_PER_UNIT,
  Work,
} from '../../../packages/json-schema/src/index.js';
import { estimateCost, shorten } from '../../../packages/linear-text/src/index.js';
import type { Warning } from '../../contract/warnings/warning.js';
import { MAX_CONDITION_COMPILE_COST } from './condition-view.js';
import type { SizedPart, Stage, Step } from './types.js';

/** How steps are compared with their registered schemas. */
export type StepSchemaMode = 'off' | 'warn' | 'enforce';

/** The first difference between a step and its registered schemas. Without values of the step. */
export interface SchemaMismatch {
  readonly part: 'input' | 'output';
  /** For example `input.text`. */
  readonly path: string;
  /** Completes a sentence about the path: "is required". */
  readonly problem: string;
  /** Whether the step could not be compared. */
  readonly not_compared: boolean;
}

/** A registered step with the schemas that it has. */
export interface StepWithSchemas {
  readonly type: string;
  readonly name: string;
  readonly input: JsonObject | null;
  readonly output: JsonObject | null;
}

/** The schemas of the steps of agents with the same registered steps. */
export interface StepSchemas extends SizedPart {
  /**
   * How a step differs from its schemas; null if it does not, or if it has none. The work, in search steps, is passed to
   * `spend`. Never throws.
   */
  compare(step: Step, stage: Stage, spend: (steps: number) => void): SchemaMismatch | null;
}

/** How the steps of one agent are compared. */
export interface StepComparison {
  readonly mode: 'warn' | 'enforce';
  readonly schemas: StepSchemas;
}

/** Longest path and problem, in characters. */
const SHOWN_LENGTH = 200;
/** Code points of the classes of a pattern that take as long to compile as an instruction. */
const CLASS_WORK_PER_INSTRUCTION = 40;
/** Memory of a parsed and compiled schema per character of its text, in bytes; and of what has no schema. */
const BYTES_PER_CHARACTER = 12;
const OWN_BYTES = 400;

/** Schemas that are not known, for this reason: every step is one that cannot be compared. */
export function unknownSchemas(reason: string): StepSchemas {
  const mismatch = notCompared('input', `cannot be compared with its registered schema: ${reason}`);
  return { sizeBytes: 0, compare: () => mismatch };
}

/**
 * The schemas of some steps, whose text had `length` characters. Each is compiled when a step is compared with it for the
 * first time: agents register many tools, and use few of them.
 */
export function createStepSchemas(steps: readonly StepWithSchemas[], length: number): StepSchemas {
  const types = new Map<string, Map<string, Compared>>();
  for (const { type, name, input, output } of steps) {
    const names = types.get(type) ?? new Map<string, Compared>();
    types.set(type, names);
    names.set(name, { input: schemaOf('input', input), output: schemaOf('output', output) });
  }
  return {
    sizeBytes: OWN_BYTES + BYTES_PER_CHARACTER * length,
    compare(step, stage, spend) {
      const known = types.get(step.type)?.get(step.name);
      if (known === undefined) return null;
      const mismatch = known.input === null ? null : known.input.compare(step.input, spend);
      if (mismatch !== null || stage === 'pre' || known.output === null) return mismatch;
      return known.output.compare(step.output, spend);
    },
  };
}

interface Compared {
  readonly input: PartSchema | null;
  readonly output: PartSchema | null;
}

function schemaOf(part: SchemaMismatch['part'], schema: JsonObject | null): PartSchema | null {
  return schema === null || Object.keys(schema).length === 0 ? null : new PartSchema(part, schema);
}

/** The schema of the input or the output of a step. */
class PartSchema {
  readonly #part: SchemaMismatch['part'];
  readonly #schema: JsonObject;
  /** The reason if it cannot be used. */
  #compiled: RegisteredSchema | string | null = null;

  constructor(part: SchemaMismatch['part'], schema: JsonObject) {
    this.#part = part;
    this.#schema = schema;
  }

  compare(value: JsonValue, spend: (steps: number) => void): SchemaMismatch | null {
    this.#compiled ??= compiled(this.#schema);
    if (typeof this.#compiled === 'string') return notCompared(this.#part, this.#compiled);
    const work = new Work();
    try {
      if (this.#compiled.isSatisfiedBy(value, work)) return null;
      const [problem] = this.#compiled.problems(value, 1, work);
      return problem === undefined ? notCompared(this.#part, UNEXPLAINED) : this.#mismatch(problem);
    } catch (error) {
      const reason = error instanceof SchemaError ? error.message : 'cannot be applied';
      return notCompared(this.#part, `cannot be compared: its registered schema ${reason}`);
    } finally {
      spend(work.spent * STEPS_PER_UNIT);
    }
  }

  #mismatch({ keyword, path, reason, names }: SchemaProblem): SchemaMismatch {
    const isMissing = keyword === 'required';
    const all = isMissing ? [...path, ...names.slice(0, 1)] : path;
    const known = namesIn(this.#schema);
    let text: string = this.#part;
    for (const key of all) {
      if (typeof key === 'number') text += `[${key}]`;
      else text += `.${known.has(key) ? key : '*'}`;
    }
    const problem = isMissing ? 'is required' : (WITHOUT_NAMES[keyword] ?? reason);
    return {
      part: this.#part,
      path: shorten(text, SHOWN_LENGTH),
      problem: shorten(problem, SHOWN_LENGTH),
      not_compared: false,
    };
  }
}

const UNEXPLAINED = 'does not satisfy its registered schema';

/** Problems whose usual texts quote names of the data. */
const WITHOUT_NAMES: Readonly<Record<string, string>> = {
  additionalProperties: 'has members that its registered schema does not have',
  unevaluatedProperties: 'has members that its registered schema does not have',
  additionalItems: 'has more items than its registered schema has',
  unevaluatedItems: 'has more items than its registered schema has',
};

function compiled(schema: JsonObject): RegisteredSchema | string {
  let cost = 0;
  try {
    return compileRegisteredSchema(schema, (pattern) => {
      const { instructions, classWork } = estimateCost(pattern, false);
      cost += instructions + classWork / CLASS_WORK_PER_INSTRUCTION;
      if (cost > MAX_CONDITION_COMPILE_COST)
        throw new SchemaError('has patterns that cost too much to compile');
    });
  } catch (error) {
    const reason = error instanceof SchemaError ? error.message : 'cannot be compiled';
    return `cannot be compared: its registered schema ${reason}`;
  }
}

function notCompared(part: SchemaMismatch['part'], problem: string): SchemaMismatch {
  return { part, path: part, problem: shorten(problem, SHOWN_LENGTH), not_compared: true };
}

/** All names in a schema: a name of the data that is none of them may be a secret. */
function namesIn(schema: JsonObject): ReadonlySet<string> {
  const names = new Set<string>();
  const visit = (value: JsonValue): void => {
    if (typeof value !== 'object' || value === null) return;
    if (Array.isArray(value)) {
      value.forEach(visit);
      return;
    }
    for (const [name, member] of Object.entries(value)) {
      names.add(name);
      if (name === 'required' && Array.isArray(member)) {
        for (const one of member) if (typeof one === 'string') names.add(one);
      }
      visit(member as JsonValue);
    }
  };
  visit(schema);
  return names;
}

/** A mismatch as a sentence. */
export function mismatchSentence(
  stepName: string,
  { part, path, problem, not_compared }: SchemaMismatch,
): string {
  const name = shorten(stepName, SHOWN_LENGTH);
  if (not_compared) return `the ${part} of step ${name} ${problem}`;
  return `the ${part} of step ${name} does not match its registered schema: ${path} ${problem}`;
}

/** A mismatch as a warning about the request; `place` is that of the evaluation in it. */
export function mismatchWarning({ path, problem, not_compared }: SchemaMismatch, place = ''): Warning {
  const message = not_compared ? problem : `${problem}, by the registered schema of the step`;
  return { code: 'schema_mismatch', field: `${place}step.${path}`, message };
}
