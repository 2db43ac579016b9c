import { canonicalJson, type JsonObject } from '../../../packages/exact-json/src/index.js';
import { compilePattern } from '../../../packages/linear-text/src/index.js';
import type { EvaluatorRegistry } from '../../core/evaluator.js';
import type { Condition, ControlDefinition, Leaf, Scope } from '../definition/definition.js';
import { foregoneResult } from './foregone-result.js';

/** Most pairs of nodes that are compared for one pair of controls. */
const MAX_COMPARISONS = 5_000;

/**
 * Whether a control that denies makes another one needless: each step that the other one matches, it denies anyway. True
 * is certain; false may mean undecided. A control that observes records what it matches even then, so it is never needless.
 */
export function isHiddenBy(
  control: ControlDefinition,
  deny: ControlDefinition,
  registry: EvaluatorRegistry,
): boolean {
  if (control.action.decision === 'observe' || deny.action.decision !== 'deny') return false;
  // Steps that a person approves, and changed steps, pass it.
  if (deny.action.approval !== undefined || deny.action.modify !== undefined) return false;
  if (!isInForce(control) || !isInForce(deny)) return false;
  if (!isWithin(control.scope ?? {}, deny.scope ?? {})) return false;
  if (foregoneResult(deny, registry) === true) return true;
  return new Implications().implies(control.condition, deny.condition);
}

function isInForce({ enabled, execution }: ControlDefinition): boolean {
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

/** Which conditions follow from others by their shape, whatever their evaluators find. */
class Implications {
  #left = MAX_COMPARISONS;

  /** Whether a step that satisfies the premise satisfies the conclusion. */
  implies(premise: Condition, conclusion: Condition): boolean {
    this.#left -= 1;
    if (this.#left < 0) return false;
    if ('or' in premise) return premise.or.every((one) => this.implies(one, conclusion));
    if ('and' in conclusion) return conclusion.and.every((one) => this.implies(premise, one));
    if ('and' in premise && premise.and.some((one) => this.implies(one, conclusion))) return true;
    if ('or' in conclusion) return conclusion.or.some((one) => this.implies(premise, one));
    if ('not' in premise && 'not' in conclusion) return this.implies(conclusion.not, premise.not);
    return 'selector' in premise && 'selector' in conclusion && leafImplies(premise, conclusion);
  }
}

function leafImplies(premise: Leaf, conclusion: Leaf): boolean {
  if ((premise.selector.path ?? '*') !== (conclusion.selector.path ?? '*')) return false;
  if (conclusion.selector.required === true && premise.selector.required !== true) return false;
  const { name, config } = premise.evaluator;
  if (name !== conclusion.evaluator.name) return false;
  const other = conclusion.evaluator.config;
  return canonicalJson(config) === canonicalJson(other) || (name === 'list' && isShorterList(config, other));
}

/** Whether a list that looks for any of its values has only values of another list with the same options. */
function isShorterList(config: JsonObject, other: JsonObject): boolean {
  const { values, ...options } = config;
  const { values: otherValues, ...otherOptions } = other;
  if (!Array.isArray(values) || !Array.isArray(otherValues)) return false;
  if ((options.logic ?? 'any') !== 'any' || (options.match_on ?? 'match') !== 'match') return false;
  if (canonicalJson(options) !== canonicalJson(otherOptions)) return false;
  const all = new Set(otherValues);
  return values.length > 0 && values.every((value) => all.has(value));
}
