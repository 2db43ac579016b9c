import { z } from 'zod';
import { isObject, type JsonObject, type JsonValue } from '../../../packages/exact-json/src/index.js';
import { field, type IssueSink, readWith, refuse, report } from '../../contract/input/fields.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import { readCondition } from './condition-reader.js';
import { type Condition, type ControlDefinition, leavesOf } from './definition/definition.js';
import { definitionMembers } from './definition/definition-members.js';
import { checkLift } from './definition/lift-members.js';

/**
 * The schema of a literal control definition. It reads client input, older shapes included, and returns the
 * definition to store: nulls and unknown members dropped outside free-form objects, `enabled` always present.
 */
export function createDefinitionSchema(registry: EvaluatorRegistry): z.ZodType<ControlDefinition> {
  return field((value, sink) => {
    if (!isObject(value)) return refuseShape(value, sink);
    if (isGiven(value, 'template')) {
      return refuse(sink, 'value_error', 'a definition is written out or made from a template', value);
    }
    if (isGiven(value, 'template_values')) return refuseValues(value, sink);
    return readDefinition(value, registry, sink);
  });
}

/** A definition may be literal or made from a template; other values are rejected as both. */
function refuseShape(value: JsonValue, sink: IssueSink): never {
  for (const shape of ['ControlDefinition', 'TemplateControlInput']) {
    report(sink, 'model_attributes_type', 'must be an object', value, [shape]);
  }
  return z.NEVER;
}

function refuseValues(sent: JsonObject, sink: IssueSink): never {
  if (isObject(sent.template_values)) {
    return refuse(sink, 'value_error', 'template_values without a template have no meaning', sent);
  }
  report(sink, 'dict_type', 'must be an object', sent.template_values, ['template_values']);
  return z.NEVER;
}

function readDefinition(sent: JsonObject, registry: EvaluatorRegistry, sink: IssueSink): ControlDefinition {
  const hasSelector = isGiven(sent, 'selector');
  const hasEvaluator = isGiven(sent, 'evaluator');
  const hasCondition = isGiven(sent, 'condition');
  const isMixed = (hasSelector || hasEvaluator) && hasCondition;
  if (isMixed) {
    report(sink, 'value_error', 'has a condition and a selector or evaluator beside it', sent);
  } else if (hasSelector !== hasEvaluator) {
    report(sink, 'value_error', 'a selector and an evaluator belong together', sent);
    readWith(definitionMembers, sent, sink);
    return z.NEVER;
  }
  // The older flat shape: selector and evaluator directly in the definition are its only leaf.
  const { selector = null, evaluator = null } = sent;
  const sentCondition = hasSelector && !hasCondition ? { selector, evaluator } : sent.condition;
  const { condition, tooLarge } = readCondition(sentCondition, registry, sink);
  const members = readWith(definitionMembers, sent, sink);
  if (tooLarge !== undefined) return refuse(sink, 'value_error', tooLarge, sent);
  if (lacksSteering(sent.action, sentCondition)) {
    const rule = 'action.steering_context: required for steer when the condition is and, or, not';
    return refuse(sink, 'value_error', rule, sent);
  }
  if (isMixed || condition === undefined || members === undefined) return z.NEVER;
  const remembering = members.execution === 'sdk' ? rememberingEvaluator(condition, registry) : undefined;
  if (remembering !== undefined) {
    const rule = `must be server: the evaluator ${remembering} depends on earlier steps, which only the service knows`;
    report(sink, 'value_error', rule, 'sdk', ['execution']);
    return z.NEVER;
  }
  const definition = { condition, ...members };
  checkLift(definition, registry, sink);
  return definition;
}

/** The name of the first evaluator of a condition whose checks depend on earlier steps. */
function rememberingEvaluator(condition: Condition, registry: EvaluatorRegistry): string | undefined {
  for (const { leaf } of leavesOf(condition, '')) {
    if (registry.get(leaf.evaluator.name)?.remembers === true) return leaf.evaluator.name;
  }
  return undefined;
}

/** Looks at what was sent, so that other mistakes do not hide this one. */
function lacksSteering(action: JsonValue | undefined, condition: JsonValue | undefined): boolean {
  if (!isObject(action) || action.decision !== 'steer' || isGiven(action, 'steering_context')) return false;
  const branches = ['and', 'and_', 'or', 'or_', 'not', 'not_'];
  return isObject(condition) && branches.some((name) => isGiven(condition, name));
}

/** Whether an object has an own member that is not null. */
export function isGiven(sent: JsonObject, name: string): boolean {
  return Object.hasOwn(sent, name) && sent[name] !== null && sent[name] !== undefined;
}
