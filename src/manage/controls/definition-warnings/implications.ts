import { canonicalJson, type JsonObject } from '../../../../packages/exact-json/src/index.js';
import type { Condition, Leaf } from '../definition/definition.js';

/** Most pairs of nodes that are compared for one pair of conditions. */
const MAX_COMPARISONS = 5_000;

/** Which conditions follow from others by their shape, whatever their evaluators find. */
export class Implications {
  #left = MAX_COMPARISONS;
  readonly #isComparable: (leaf: Leaf) => boolean;

  /** `isComparable`: whether a leaf that occurs twice gives the same at both places. */
  constructor(isComparable: (leaf: Leaf) => boolean = () => true) {
    this.#isComparable = isComparable;
  }

  /** Whether a step that satisfies the premise satisfies the conclusion. */
  implies(premise: Condition, conclusion: Condition): boolean {
    this.#left -= 1;
    if (this.#left < 0) return false;
    if ('or' in premise) return premise.or.every((one) => this.implies(one, conclusion));
    if ('and' in conclusion) return conclusion.and.every((one) => this.implies(premise, one));
    if ('and' in premise && premise.and.some((one) => this.implies(one, conclusion))) return true;
    if ('or' in conclusion) return conclusion.or.some((one) => this.implies(premise, one));
    if ('not' in premise && 'not' in conclusion) return this.implies(conclusion.not, premise.not);
    return (
      'selector' in premise &&
      'selector' in conclusion &&
      leafImplies(premise, conclusion) &&
      this.#isComparable(premise)
    );
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
