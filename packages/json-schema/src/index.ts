export { countCodePoints } from './assertions.js';
export { countValues, schemaBoundsProblem } from './bounds.js';
export { compileSchema } from './compile-schema.js';
export {
  createSchemaValidator,
  dialectOf,
  linearEngine,
  MAX_REGISTERED_CHECK_WORK,
  OPTIONS,
  type SchemaValidator,
} from './json-schema.js';
export { createMembership } from './membership.js';
export { Run, type SchemaCheck } from './run.js';
export { schemaWork, type WorkBudget } from './schema-work.js';
export { isOfType } from './value-types.js';
export { type CountedPattern, countedPattern, STEPS_PER_UNIT, Work } from './work.js';
