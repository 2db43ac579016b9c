import { useCallback } from 'react';
import { useAddressFilter } from '../page/use-address-filter.js';

export type SortDirection = 'ascending' | 'descending';

/** The order of a list, which is part of the address. */
export interface Sort {
  /** Name of the order; blank for that of the server. */
  readonly by: string;
  /** Whether it is the other way round than when it is selected first. */
  readonly isReversed: boolean;
  /** Selects an order; the selected one is reversed, and the reversed one ends. */
  readonly select: (by: string) => void;
}

/** Name of the parameter of the address. */
export const SORT_PARAMETER = 'sort';
const REVERSED = '-';

/**
 * Reads the order of a list from the address: `sort=name`, or `sort=-name` for the reverse. Names that are not among the
 * given ones are no order.
 */
export function useSort(names: readonly string[]): Sort {
  const { get, set } = useAddressFilter();
  const { by, isReversed } = sortOf(get(SORT_PARAMETER), names);
  const select = useCallback(
    (next: string) => set(SORT_PARAMETER, nextSort(next, { by, isReversed })),
    [set, by, isReversed],
  );
  return { by, isReversed, select };
}

/** The order that a parameter of the address stands for. */
export function sortOf(parameter: string, names: readonly string[]): Omit<Sort, 'select'> {
  const isReversed = parameter.startsWith(REVERSED);
  const by = isReversed ? parameter.slice(REVERSED.length) : parameter;
  return names.includes(by) ? { by, isReversed } : { by: '', isReversed: false };
}

/** The parameter after the head of a column was pressed: first its order, then the reverse, then none. */
export function nextSort(pressed: string, { by, isReversed }: Omit<Sort, 'select'>): string {
  if (pressed !== by) return pressed;
  return isReversed ? '' : `${REVERSED}${pressed}`;
}

/** The direction of a column in the order of its table; undefined if the rows are in another order. */
export function directionOf(first: SortDirection, isReversed: boolean): SortDirection {
  if (!isReversed) return first;
  return first === 'ascending' ? 'descending' : 'ascending';
}
