/** A range of a text. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Positions in a text that is part of another: shifted, or all at the part, when escapes make the two differ. */
export interface Place {
  startOf(position: number): number;
  endOf(position: number): number;
}

export const WHOLE_TEXT: Place = { startOf: (position) => position, endOf: (position) => position };

export const shiftedBy = (outer: Place, offset: number): Place => ({
  startOf: (position) => outer.startOf(position + offset),
  endOf: (position) => outer.endOf(position + offset),
});

export function fixedAt(outer: Place, { start, end }: Span): Place {
  const [first, last] = [outer.startOf(start), outer.endOf(end)];
  return { startOf: () => first, endOf: () => last };
}
