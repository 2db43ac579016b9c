import { useCallback } from 'react';
import { useSearchParams } from 'wouter';

/** Filters that are part of the address. */
export interface AddressFilter {
  readonly parameters: URLSearchParams;
  /** The value of a filter; blank if it is not set. */
  readonly get: (name: string) => string;
  /** A blank value removes its filter. */
  readonly set: (name: string, value: string) => void;
  /** What a field for a filter needs. */
  readonly field: (name: string) => { readonly value: string; readonly onChange: (value: string) => void };
}

export function useAddressFilter(): AddressFilter {
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
  const get = (name: string) => parameters.get(name) ?? '';
  return {
    parameters,
    get,
    set,
    field: (name) => ({ value: get(name), onChange: (value) => set(name, value) }),
  };
}
