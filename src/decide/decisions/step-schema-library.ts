import { setImmediate } from 'node:timers/promises';
import { type JsonObject, parseStoredJson } from '../../../packages/exact-json/src/index.js';
import {
  createStepSchemas,
  type StepComparison,
  type StepSchemaMode,
  type StepSchemas,
  type StepWithSchemas,
  unknownSchemas,
} from '../../kernel/core/step-schemas.js';
import { DAMAGED_SCHEMAS_TEXT, stepSchemasText } from '../agent-state/registered-schemas.js';
import { TURN_MS } from './in-turns.js';
import type { ReadSteps } from './state-reader.js';
import { WeakStore } from './weak-store.js';

const OLD_FILE_SCHEMAS = unknownSchemas('the last known good file of an earlier version does not have it');
const DAMAGED_SCHEMAS = unknownSchemas('the stored registration cannot be read');

/** Reads the schemas of registered steps, each text once: agents with the same steps share them. */
export interface StepSchemaLibrary {
  /** How steps of an agent are compared; null if they are not, or have no schemas. Never rejects. */
  comparisonOf(steps: ReadSteps): Promise<StepComparison | null>;
  /** How steps of an agent with this setting are compared; null stands for the setting of the service. */
  modeOf(own: StepSchemaMode | null): StepSchemaMode;
  /** The text that schemas were read from; undefined for those that are not known, with which no step is compared. */
  textOf(schemas: StepSchemas): string | undefined;
}

/** `mode` is the setting of the service. */
export function createStepSchemaLibrary(mode: StepSchemaMode): StepSchemaLibrary {
  const known = new WeakStore<StepSchemas>({ keep: 0, keepBytes: 0 });
  const texts = new WeakMap<StepSchemas, string>();
  let turnBegan = 0;
  /** Many agents are loaded at the same time. */
  async function takeTurn(): Promise<void> {
    if (performance.now() - turnBegan < TURN_MS) return;
    await setImmediate();
    turnBegan = performance.now();
  }

  function schemasOf(text: string | null): StepSchemas | null {
    if (text === null) return null;
    if (text === DAMAGED_SCHEMAS_TEXT) return DAMAGED_SCHEMAS;
    const found = known.get(text);
    if (found !== undefined) return found;
    const schemas = readStepSchemas(text);
    known.set(text, schemas);
    texts.set(schemas, text);
    return schemas;
  }

  const modeOf = (own: StepSchemaMode | null): StepSchemaMode => own ?? mode;
  return {
    modeOf,
    textOf: (schemas) => texts.get(schemas),
    async comparisonOf(steps) {
      if (steps === 'unknown') return mode === 'off' ? null : { mode, schemas: OLD_FILE_SCHEMAS };
      const used = modeOf(steps.mode);
      if (used === 'off') return null;
      await takeTurn();
      const text = 'schemas' in steps ? steps.schemas : stepSchemasText(steps.registration);
      const schemas = schemasOf(text);
      return schemas === null ? null : { mode: used, schemas };
    },
  };
}

/** The schemas in a text of `stepSchemasText`. */
export function readStepSchemas(text: string): StepSchemas {
  const stored = parseStoredJson(text) as [string, string, JsonObject | null, JsonObject | null][];
  const steps = stored.map(([type, name, input, output]): StepWithSchemas => ({ type, name, input, output }));
  return createStepSchemas(steps, text.length);
}
