import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import { jsonSchemaOf } from '../../contract/input/fields.js';
import {
  actionSchema,
  definitionMembers,
  evaluatorRefSchema,
  scopeSchema,
  selectorSchema,
} from './definition/definition-members.js';

/** The forms of a node of the condition tree, by their members. */
const FORMS = [['selector', 'evaluator'], ['and'], ['or'], ['not']] as const;
const FORM_MEMBERS = FORMS.flat();

const NULL: JsonObject = { type: 'null' };
const CONDITION = reference('Condition');
const CONDITIONS: JsonObject = { type: 'array', minItems: 1, items: CONDITION };

/** With a condition other than a single check, a steer control requires a steering context. */
const STEERING_RULE: JsonObject = {
  if: {
    properties: {
      action: { type: 'object', properties: { decision: { const: 'steer' } }, required: ['decision'] },
      condition: { type: 'object', properties: { evaluator: NULL } },
    },
  },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: {
    properties: {
      action: {
        type: 'object',
        required: ['steering_context'],
        properties: { steering_context: { not: NULL } },
      },
    },
  },
};

/**
 * JSON Schema (2020-12) of a definition as written by clients. It is derived from the schemas that read
 * definitions; only the parts that those implement in code are repeated here: the recursion of conditions and
 * the rules that span members. It does not cover templates, the older flat shape, lax spellings such as
 * `"yes"` for true, or an evaluator's configuration.
 */
export const controlJsonSchema: JsonObject = createControlJsonSchema();

function createControlJsonSchema(): JsonObject {
  const members = jsonSchemaOf(definitionMembers);
  return {
    title: 'ControlDefinition',
    type: 'object',
    properties: {
      condition: CONDITION,
      ...(members.properties as JsonObject),
      scope: reference('Scope'),
      action: reference('Action'),
    },
    required: ['condition', ...(members.required as string[])],
    allOf: [STEERING_RULE],
    $defs: {
      Condition: conditionSchema(),
      Selector: jsonSchemaOf(selectorSchema),
      EvaluatorRef: jsonSchemaOf(evaluatorRefSchema),
      Scope: jsonSchemaOf(scopeSchema),
      Action: jsonSchemaOf(actionSchema),
    },
  };
}

/** A node has exactly one form; the members of the others are absent or null. */
function conditionSchema(): JsonObject {
  return {
    type: 'object',
    properties: {
      selector: orNull(reference('Selector')),
      evaluator: orNull(reference('EvaluatorRef')),
      and: orNull(CONDITIONS),
      or: orNull(CONDITIONS),
      not: orNull(CONDITION),
    },
    oneOf: FORMS.map((form: readonly string[]): JsonObject => {
      const members = FORM_MEMBERS.map((name): [string, JsonObject] => [
        name,
        form.includes(name) ? { not: NULL } : NULL,
      ]);
      return { required: [...form], properties: Object.fromEntries(members) };
    }),
  };
}

function orNull(schema: JsonObject): JsonObject {
  return { anyOf: [schema, NULL] };
}

function reference(name: string): JsonObject {
  return { $ref: `#/$defs/${name}` };
}
