import type { CelType } from '../../../packages/cel/src/index.js';
import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import { schemaType } from '../../kernel/evaluators/cel/schema-types.js';
import { ANY, mergedType, plain, unionOf } from '../../kernel/evaluators/cel/variables.js';
import type { Scope } from '../controls/definition/definition.js';
import type { RegisteredStepTypes } from '../controls/expression-inspection.js';
import { selectedSteps } from './step-notes.js';
import type { StepCatalogue } from './steps-catalogue.js';

/** Most steps whose schemas are read; with more, nothing is known. */
const MAX_STEPS = 2_000;

/** The types that the registered schemas of the steps in a scope give. */
export function registeredTypes(scope: Scope, catalogue: StepCatalogue): RegisteredStepTypes {
  const steps = selectedSteps(scope, catalogue);
  const isRead = steps.length <= MAX_STEPS;
  const inputs = steps.map(({ input_schema: schema }) => schema);
  const outputs = steps.map(({ output_schema: schema }) => schema);
  const isAfter = scope.stages?.includes('pre') === false;
  const output = (type: CelType): CelType =>
    type.kind === 'any' || isAfter ? type : unionOf([type, plain('null')]);
  return {
    owner: catalogue.owner,
    isComplete: catalogue.isComplete && isRead,
    certain: {
      input: isRead ? mergedType(inputs.map(certainType)) : ANY,
      output: output(isRead ? mergedType(outputs.map(certainType)) : ANY),
      context: ANY,
    },
    likely: {
      input: isRead ? likelyType(inputs) : ANY,
      output: output(isRead ? likelyType(outputs) : ANY),
      context: ANY,
    },
    schemasKnown:
      catalogue.isComplete && isRead && steps.length > 0 && inputs.every((schema) => schema !== null),
  };
}

/** By the letter of the schema; unknown without one. */
function certainType(schema: JsonObject | null): CelType {
  return schema === null ? ANY : schemaType(schema);
}

/** As the authors of the schemas that there are most likely mean them: with the members that they name. */
function likelyType(schemas: readonly (JsonObject | null)[]): CelType {
  const known = schemas.filter((schema) => schema !== null);
  return mergedType(known.map((schema) => schemaType(schema, true)));
}
