import { useCallback } from 'react';
import { useSearchParams } from 'wouter';

/** Filters that are part of the address. A blank value removes its filter. */
export function useAddressFilter(): readonly [URLSearchParams, (name: string, value: string) => void] {
  const [parameters, setParameters] = useSearchParams();
  const set = useCallback(
    (name: string, value: string) => {
      setParameters(
        (current) => {
          const next = new URLSearchParams(current);
          if (value === '') next.delete(name);
          else next.set(name, value);
          return next;
        },
        { replace: true },
      );
    },
    [setParameters],
  );
  return [parameters, set];
}
