/** The lower one of two positions of the event log. */
export function lower(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}

/** The higher one of two positions of the event log. */
export function higher(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}
