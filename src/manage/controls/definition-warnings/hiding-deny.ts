import { compilePattern } from '../../../../packages/linear-text/src/index.js';
import type { EvaluatorRegistry } from '../../../kernel/core/evaluator.js';
import type { ControlDefinition, Scope } from '../definition/definition.js';
import { foregoneResult } from './foregone-result.js';
import { Implications } from './implications.js';

/**
 * Whether a control that denies makes another one needless: each step that the other one matches, it denies anyway. True
 * is certain; false may mean undecided. A control that observes records what it matches even then, so it is never needless.
 */
export function isHiddenBy(
  control: ControlDefinition,
  deny: ControlDefinition,
  registry: EvaluatorRegistry,
): boolean {
  return mayHide(control, deny) && isCoveredBy(control, deny, () => foregoneResult(deny, registry) === true);
}

/** Whether a control that denies makes another one needless if it matches whatever the other one matches. */
export function mayHide(control: ControlDefinition, deny: ControlDefinition): boolean {
  if (control.action.decision === 'observe' || deny.action.decision !== 'deny') return false;
  // Steps that a person approves, and changed steps, pass it.
  if (deny.action.approval !== undefined || deny.action.modify !== undefined) return false;
  return isInForce(control) && isInForce(deny);
}

/**
 * Whether each step that a control matches is one that another one matches too. True is certain. `isAlways`: whether the other
 * one matches every step of its scope.
 */
export function isCoveredBy(
  control: ControlDefinition,
  other: ControlDefinition,
  isAlways: () => boolean,
): boolean {
  if (!isWithin(control.scope ?? {}, other.scope ?? {})) return false;
  return isAlways() || new Implications().implies(control.condition, other.condition);
}

/** Whether the service evaluates a control. */
export function isInForce({ enabled, execution }: ControlDefinition): boolean {
  return enabled && execution === 'server';
}

/** Whether every step of a scope is one of another scope. */
function isWithin(inner: Scope, outer: Scope): boolean {
  return (
    isSubset(inner.stages, outer.stages) &&
    isSubset(inner.step_types, outer.step_types) &&
    areNamesWithin(inner, outer)
  );
}

/** An empty list restricts nothing. */
function isSubset(inner: readonly string[] = [], outer: readonly string[] = []): boolean {
  if (outer.length === 0) return true;
  const all = new Set(outer);
  return inner.length > 0 && inner.every((item) => all.has(item));
}

function areNamesWithin(inner: Scope, outer: Scope): boolean {
  const { step_names: names = [], step_name_regex: regex = '' } = outer;
  if (names.length === 0 && regex === '') return true;
  const { step_names: own = [], step_name_regex: ownRegex = '' } = inner;
  if (own.length === 0 && ownRegex === '') return false;
  if (ownRegex !== '' && ownRegex !== regex) return false;
  const all = new Set(names);
  const rest = own.filter((name) => !all.has(name));
  if (rest.length === 0) return true;
  if (regex === '') return false;
  const pattern = compilePattern(regex);
  return rest.every((name) => pattern.test(name));
}
