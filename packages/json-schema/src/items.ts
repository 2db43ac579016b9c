import { doubleOf, isNumber, type JsonObject, type JsonValue } from '../../exact-json/src/index.js';
import { always, applyTo, type KeywordContext, listOf, own, shown } from './keyword.js';
import type { SchemaCheck } from './run.js';

/** `items` of draft 7: one schema for all items, or schemas by position. */
export function items(given: JsonValue, context: KeywordContext): SchemaCheck {
  return Array.isArray(given) ? prefixItems(given, context) : allItems(given, context, 0);
}

export function prefixItems(given: JsonValue, { check, collects }: KeywordContext): SchemaCheck {
  const checks = listOf(given).map(check);
  return eachItem((index) => checks[index] ?? always, collects, 0, checks.length);
}

/** `additionalItems` of draft 7 applies only next to a list of schemas. */
export function additionalItems(given: JsonValue, context: KeywordContext): SchemaCheck {
  const positional = own(context.schema, 'items');
  return Array.isArray(positional) ? furtherItems(given, context, positional.length) : always;
}

/** `items` of 2020-12. */
export function itemsAfterPrefix(given: JsonValue, context: KeywordContext): SchemaCheck {
  const { length } = listOf(own(context.schema, 'prefixItems'));
  return length === 0 ? allItems(given, context, 0) : furtherItems(given, context, length);
}

/** One problem for all superfluous items if none is allowed. */
function furtherItems(given: JsonValue, context: KeywordContext, length: number): SchemaCheck {
  if (given !== false) return allItems(given, context, length);
  return (value, place, run) =>
    !Array.isArray(value) ||
    value.length <= length ||
    run.fail(place, context.keyword, () => `has more than the ${length} items allowed`);
}

function allItems(given: JsonValue, { check, collects }: KeywordContext, start: number): SchemaCheck {
  const one = check(given);
  return eachItem(() => one, collects, start, Infinity);
}

function eachItem(
  checkAt: (index: number) => SchemaCheck,
  collects: boolean,
  start: number,
  end: number,
): SchemaCheck {
  return (value, place, run) => {
    if (!Array.isArray(value)) return true;
    let valid = true;
    for (let index = start; index < value.length && index < end; index += 1) {
      if (collects) run.evaluated.add(index);
      if (checkAt(index)(value[index] as JsonValue, run.below(place, index), run)) continue;
      valid = false;
      if (run.endsAtFirst) break;
    }
    return valid;
  };
}

/** Compiled after all other keywords of its schema. One problem for all items if none is allowed. */
export function unevaluatedItems(given: JsonValue, { keyword, check }: KeywordContext): SchemaCheck {
  const one = check(given);
  return (value, place, run) => {
    if (!Array.isArray(value)) return true;
    run.work.spend(value.length);
    const isEvaluated = run.evaluated.reader(run.work);
    const others = [...value.keys()].filter((index) => !isEvaluated(index));
    for (const index of others) run.evaluated.add(index);
    if (given === false) {
      return others.length === 0 || run.fail(place, keyword, () => `has unexpected items: ${shown(others)}`);
    }
    return applyTo(others, one, value, place, run);
  };
}

/** `contains` of draft 7. */
export function contains(given: JsonValue, context: KeywordContext): SchemaCheck {
  return containsBetween(given, context, 1, Number.POSITIVE_INFINITY);
}

/** `contains` of 2020-12, with `minContains` and `maxContains`. */
export function countedContains(given: JsonValue, context: KeywordContext): SchemaCheck {
  const least = limitOf(context.schema, 'minContains', 1);
  return containsBetween(given, context, least, limitOf(context.schema, 'maxContains', Infinity));
}

function containsBetween(
  given: JsonValue,
  { keyword, check, collects }: KeywordContext,
  least: number,
  most: number,
): SchemaCheck {
  const one = check(given);
  return (value, place, run) => {
    if (!Array.isArray(value)) return true;
    let count = 0;
    for (const [index, item] of value.entries()) {
      if (!collects && most === Infinity && count >= least) break;
      if (!run.holds(one, item)) continue;
      count += 1;
      if (collects) run.evaluated.add(index);
      if (count > most) {
        return run.fail(place, keyword, () => `has more than ${most} items that contains asks for`);
      }
    }
    return (
      count >= least ||
      run.fail(
        place,
        keyword,
        () => `has ${least === 1 ? 'no item' : `fewer than ${least} items`} that contains asks for`,
      )
    );
  };
}

function limitOf(schema: JsonObject, name: string, otherwise: number): number {
  const limit = own(schema, name);
  return isNumber(limit) ? doubleOf(limit) : otherwise;
}
