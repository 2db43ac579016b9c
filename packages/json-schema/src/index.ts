export { countCodePoints, isOfType } from './assertions.js';
export { countValues } from './bounds.js';
export { compileSchema } from './compile-schema.js';
export { createMembership } from './membership.js';
export {
  compileRegisteredSchema,
  createSchemaValidator,
  type RegisteredSchema,
  type SchemaValidator,
} from './registered-schemas.js';
export { Run, type SchemaCheck, type SchemaProblem } from './run.js';
export { SchemaError } from './schema-error.js';
export { type CountedPattern, countedPattern, STEPS_PER_UNIT, Work } from './work.js';
