import {
  isObject,
  type JsonObject,
  type JsonValue,
  parseStoredJson,
  stringifyJson,
} from '../../../packages/exact-json/src/index.js';
import type { StepSchemaMode } from '../../kernel/core/step-schemas.js';

/** The setting in a column; one of a later version is taken as the strictest. */
export function storedMode(stored: string | null): StepSchemaMode | null {
  if (stored === null || stored === 'off' || stored === 'warn') return stored;
  return 'enforce';
}

/** The text of the schemas of a registration that cannot be read. */
export const DAMAGED_SCHEMAS_TEXT = '';
/** Whether the text of a registration may have a schema of a step. */
const MAY_HAVE_SCHEMAS = /put_schema"\s*:\s*\{/;

/** The schemas in the text of a registration, as a text that is the same for the same schemas; null without any. */
export function stepSchemasText(registration: string): string | null {
  if (!MAY_HAVE_SCHEMAS.test(registration)) return null;
  const registered = registeredSteps(registration);
  if (registered === null) return DAMAGED_SCHEMAS_TEXT;
  const steps = registered.flatMap((step): JsonValue[] => {
    const { type, name, input_schema: input, output_schema: output } = step;
    if (typeof type !== 'string' || typeof name !== 'string') return [];
    const schemas = [input, output].map((schema) => (isObject(schema) ? schema : null));
    return schemas.every((schema) => schema === null) ? [] : [[type, name, ...schemas]];
  });
  return steps.length === 0 ? null : stringifyJson(steps);
}

function registeredSteps(registration: string): JsonObject[] | null {
  try {
    const read = parseStoredJson(registration);
    const steps = isObject(read) ? read.steps : undefined;
    return Array.isArray(steps) ? steps.filter(isObject) : null;
  } catch {
    return null;
  }
}
