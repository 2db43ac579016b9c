import { useCallback, useEffect } from 'react';
import { useSearchParams } from 'wouter';
import { addressWithRange, type Range, rangeOfAddress } from './range.js';

export const DEFAULT_RANGE = '24h';

/** The range that was chosen last in this tab: pages that are opened without one have the same. */
let chosen: Range | undefined;

/** Pages that are opened without a range have the usual one again. */
export function forgetRange(): void {
  chosen = undefined;
}

interface RangeOptions {
  /** Whether other pages and this one have the range that was chosen last. */
  readonly isCarried?: boolean;
}

/**
 * The range of the page, which is part of the address, and a function that changes it. An address without a range has
 * the one that was chosen last in this tab, otherwise `fallback`.
 */
export function useRange(
  fallback: Range = DEFAULT_RANGE,
  { isCarried = true }: RangeOptions = {},
): readonly [Range, (range: Range) => void] {
  const [parameters, setParameters] = useSearchParams();
  const given = rangeOfAddress(parameters);
  const hasOther = ['range', 'from', 'to', 'since'].some((name) => parameters.has(name));
  const carried = isCarried && given === undefined && !hasOther ? chosen : undefined;
  const write = useCallback(
    (range: Range, isOwn: boolean) =>
      // Other hooks may have changed the address since it was drawn.
      setParameters(addressWithRange(new URLSearchParams(window.location.search), range, fallback), {
        replace: !isOwn,
      }),
    [setParameters, fallback],
  );
  useEffect(() => {
    if (carried === undefined || carried === fallback) return;
    if (rangeOfAddress(new URLSearchParams(window.location.search)) === undefined) write(carried, false);
  }, [carried, fallback, write]);
  const set = useCallback(
    (range: Range) => {
      if (isCarried) chosen = range === '' ? undefined : range;
      // A step of the browser's history: going back zooms out.
      write(range, true);
    },
    [write, isCarried],
  );
  return [given ?? carried ?? fallback, set];
}
