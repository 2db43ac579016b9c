/** A whole number, exact at any size: a bigint beyond 2^53. Both forms are valid in replies. */
export type Count = number | bigint;

/** Reads an integer of the database; 0 for null. */
export function bigintOf(value: unknown): bigint {
  return BigInt(String(value ?? 0));
}

/** Reads one that is mostly small. */
export function countOf(value: string | number | bigint | boolean | null | undefined): Count {
  const number = Number(value ?? 0);
  return Number.isSafeInteger(number) ? number : BigInt(String(value));
}

export function addCounts(one: Count, other: Count): Count {
  const sum = Number(one) + Number(other);
  return Number.isSafeInteger(sum) ? sum : countOf(BigInt(one) + BigInt(other));
}
