import { useQueries } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo } from 'react';
import { useSearchParams } from 'wouter';
import { errorText } from '../error-text.js';
import { addressWith, termsOfAddress } from './query-address.js';
import type { QueryMember, QueryReading, QueryTerm } from './query-member.js';

/** The query of a page, which is part of its address. */
export interface Query {
  readonly members: readonly QueryMember[];
  /** Its terms, also those that cannot be used. */
  readonly terms: readonly QueryTerm[];
  /** Why terms cannot be used. */
  readonly problems: readonly string[];
  /** Whether all terms can be used: a page shows no list by other filters than those that it shows. */
  readonly isReady: boolean;
  readonly set: (terms: readonly QueryTerm[]) => void;
}

/**
 * The terms in the address of the page. Terms that only the server can read are looked up and replaced in the address,
 * so that it has, for example, the id of a control for its name.
 */
export function useQueryTerms(members: readonly QueryMember[]): Query {
  const [parameters, setParameters] = useSearchParams();
  const address = parameters.toString();
  const given = useMemo(() => termsOfAddress(new URLSearchParams(address), members), [address, members]);
  const set = useCallback(
    (terms: readonly QueryTerm[]) =>
      // Other hooks may have changed the address since it was drawn.
      setParameters(addressWith(new URLSearchParams(window.location.search), members, terms), {
        replace: true,
      }),
    [setParameters, members],
  );
  const unknown = given.filter(({ isUnknown }) => isUnknown === true);
  const found = useQueries({
    queries: unknown.map(({ member, value }) => ({
      queryKey: ['query value', member.name, value],
      queryFn: ({ signal }: { readonly signal: AbortSignal }): Promise<QueryReading> =>
        member.find?.(value, signal) ?? Promise.resolve({ value }),
    })),
  });
  const terms = given.map((term) => {
    const at = unknown.indexOf(term);
    return at === -1 ? term : known(term, found[at]?.data, found[at]?.error);
  });
  const isFound = terms.some(
    (term, at) => term.isUnknown !== true && given[at]?.isUnknown === true && term.problem === undefined,
  );
  useEffect(() => {
    if (isFound) set(terms);
  });
  const problems = terms.flatMap(({ problem }) => (problem === undefined ? [] : [problem]));
  return {
    members,
    terms,
    problems,
    isReady: problems.length === 0 && terms.every(({ isUnknown }) => isUnknown !== true),
    set,
  };
}

function known(term: QueryTerm, reading: QueryReading | undefined, error: unknown): QueryTerm {
  const { member, value } = term;
  if (reading !== undefined && 'value' in reading) return { member, value: reading.value };
  if (reading !== undefined && 'problem' in reading) return { member, value, problem: reading.problem };
  if (!error) return term;
  return {
    member,
    value,
    problem: `${member.name} ${value} could not be looked up: ${errorText(error).detail}`,
  };
}
