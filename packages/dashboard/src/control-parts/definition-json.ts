import { toJson } from '@bufbuild/protobuf';
import {
  type Condition,
  ConditionSchema,
  type ControlDefinition,
  ControlDefinitionSchema,
} from '@gen/enforcement/v1/control_pb.js';

type JsonMember = Record<string, unknown>;

/** A definition as JSON text, in the form of the JSON routes. */
export function definitionJson(definition: ControlDefinition): string {
  return JSON.stringify(definitionValue(definition), null, 2);
}

/** A definition as a JSON value, in the form of the JSON routes. */
export function definitionValue(definition: ControlDefinition): Record<string, unknown> {
  const json = toJson(ControlDefinitionSchema, definition, { useProtoFieldName: true }) as JsonMember;
  if (definition.condition !== undefined) json.condition = conditionJson(definition.condition);
  replaceWord(json, 'execution', 'EXECUTION_');
  replaceWord(json.action as JsonMember | undefined, 'decision', 'DECISION_');
  const scope = json.scope as JsonMember | undefined;
  if (Array.isArray(scope?.stages)) scope.stages = scope.stages.map((stage) => word(stage, 'STAGE_'));
  return json;
}

/** Lists of conditions have a message of their own, which the JSON routes do not have. */
function conditionJson(condition: Condition): JsonMember {
  const json = toJson(ConditionSchema, condition, { useProtoFieldName: true }) as JsonMember;
  if (condition.and !== undefined) json.and = condition.and.conditions.map(conditionJson);
  if (condition.or !== undefined) json.or = condition.or.conditions.map(conditionJson);
  if (condition.not !== undefined) json.not = conditionJson(condition.not);
  return json;
}

function replaceWord(json: JsonMember | undefined, member: string, prefix: string): void {
  if (json?.[member] !== undefined) json[member] = word(json[member], prefix);
}

/** `DECISION_DENY` as `deny`. */
function word(value: unknown, prefix: string): string {
  return String(value).replace(prefix, '').toLowerCase();
}
