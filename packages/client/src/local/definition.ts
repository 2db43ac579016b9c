import type { Message } from '@bufbuild/protobuf';
import {
  type Action,
  type Condition,
  type ControlDefinition,
  Decision,
  Execution,
  type Scope,
  Stage,
} from '../../../../gen/proto/enforcement/v1/control_pb.js';
import type { JsonObject, JsonValue } from '../../../exact-json/src/index.js';

const DECISIONS: { readonly [value: number]: string } = {
  [Decision.DENY]: 'deny',
  [Decision.STEER]: 'steer',
  [Decision.OBSERVE]: 'observe',
};
const STAGES: { readonly [value: number]: string } = { [Stage.PRE]: 'pre', [Stage.POST]: 'post' };
/** No word of a definition: the core takes a definition with it for a damaged one, which fails closed. */
const UNKNOWN = 'unknown';

/**
 * The definition of a control that this process evaluates, in the form that the core compiles; undefined for one that
 * the service evaluates. What a later service says and this client does not know makes it damaged: it then fails closed.
 */
export function localDefinition(definition: ControlDefinition | undefined): JsonValue | undefined {
  if (definition === undefined) return null;
  const { execution, enabled, condition, scope, action } = definition;
  if (execution === Execution.SERVER) return undefined;
  return withoutAbsent({
    // The core compiles what its own process evaluates; that is this one.
    execution: execution === Execution.SDK ? 'server' : UNKNOWN,
    enabled,
    condition: condition && conditionJson(condition),
    scope: scope && scopeJson(scope),
    action: action && actionJson(action),
  });
}

function conditionJson(condition: Condition): JsonValue {
  const { selector, evaluator, and, or, not } = condition;
  if ([condition, selector, evaluator, and, or].some(hasUnknownMembers)) return UNKNOWN;
  return withoutAbsent({
    selector: selector && withoutAbsent({ path: selector.path, required: selector.required }),
    evaluator: evaluator && withoutAbsent({ name: evaluator.name, config: evaluator.config as JsonObject }),
    and: and?.conditions.map(conditionJson),
    or: or?.conditions.map(conditionJson),
    not: not && conditionJson(not),
  });
}

function scopeJson(scope: Scope): JsonValue {
  if (hasUnknownMembers(scope)) return UNKNOWN;
  return withoutAbsent({
    step_types: present(scope.stepTypes),
    step_names: present(scope.stepNames),
    step_name_regex: scope.stepNameRegex,
    stages: present(scope.stages.map((stage) => STAGES[stage] ?? UNKNOWN)),
  });
}

/** An unknown member of an action only adds to its decision. */
function actionJson({ decision, steeringContext }: Action): JsonValue {
  return withoutAbsent({
    decision: DECISIONS[decision] ?? UNKNOWN,
    steering_context:
      steeringContext &&
      withoutAbsent({
        message: steeringContext.message,
        required_actions: present(steeringContext.requiredActions),
      }),
  });
}

function hasUnknownMembers(message: Message | undefined): boolean {
  return (message?.$unknown?.length ?? 0) > 0;
}

/** A list; messages do not distinguish an empty one from an absent one. */
function present(list: readonly string[]): string[] | undefined {
  return list.length === 0 ? undefined : [...list];
}

function withoutAbsent(members: { readonly [name: string]: JsonValue | undefined }): JsonObject {
  return Object.fromEntries(
    Object.entries(members).filter((member): member is [string, JsonValue] => member[1] !== undefined),
  );
}
