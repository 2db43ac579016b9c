/**
 * Whether a version is later than another, by the precedence of Semantic Versioning 2.0.0
 * (https://semver.org/#spec-item-11). Numbers of any size compare exactly.
 */
export function isLater(version: string, than: string): boolean {
  const [one, other] = [partsOf(version), partsOf(than)];
  const order = firstOf(
    one.numbers.map((number, index) => compareNumbers(number, other.numbers[index] ?? '0')),
  );
  if (order !== 0) return order > 0;
  // A version before a release has identifiers; the release has none, and is later.
  if (one.before.length === 0 || other.before.length === 0)
    return one.before.length === 0 && other.before.length > 0;
  const length = Math.max(one.before.length, other.before.length);
  const orders = Array.from({ length }, (_, index) =>
    compareIdentifiers(one.before[index], other.before[index]),
  );
  return firstOf(orders) > 0;
}

function partsOf(version: string): {
  readonly numbers: readonly string[];
  readonly before: readonly string[];
} {
  const [precedence = ''] = version.split('+', 1);
  const dash = precedence.indexOf('-');
  const numbers = (dash === -1 ? precedence : precedence.slice(0, dash)).split('.');
  return { numbers, before: dash === -1 ? [] : precedence.slice(dash + 1).split('.') };
}

function compareNumbers(one: string, other: string): number {
  return one.length - other.length || compareTexts(one, other);
}

/** An absent identifier comes before any other, and numbers before words. */
function compareIdentifiers(one: string | undefined, other: string | undefined): number {
  if (one === undefined || other === undefined)
    return Number(one !== undefined) - Number(other !== undefined);
  const [isNumber, otherIsNumber] = [/^[0-9]+$/.test(one), /^[0-9]+$/.test(other)];
  if (isNumber !== otherIsNumber) return isNumber ? -1 : 1;
  return isNumber ? compareNumbers(one, other) : compareTexts(one, other);
}

function compareTexts(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

function firstOf(orders: readonly number[]): number {
  return orders.find((order) => order !== 0) ?? 0;
}
