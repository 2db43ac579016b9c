import { useQueries } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useDebounced } from '../browser/use-debounced.js';
import type { QueryMember, QueryTerm, QueryValue } from './query-member.js';
import { askedMembers, type Suggestion, suggestionsFor, typedPart } from './suggestions.js';

const DEBOUNCE_MS = 150;

export interface Suggestions {
  readonly list: readonly Suggestion[];
  /** Whether the server is still asked for more. */
  readonly isSearching: boolean;
}

/** What is suggested for a typed text. The server is asked only while suggestions are shown. */
export function useSuggestions(
  typed: string,
  members: readonly QueryMember[],
  terms: readonly QueryTerm[],
  isShown: boolean,
  textMember: QueryMember | undefined,
): Suggestions {
  const part = typedPart(typed, members);
  const { member, text } = part;
  const settled = useDebounced(text, DEBOUNCE_MS);
  const asked = useMemo(
    () => (isShown ? askedMembers({ before: '', member, text: settled }, members) : []),
    [isShown, member, settled, members],
  );
  const key = terms.map((term) => [term.member.name, term.value]);
  const { values, isSearching } = useQueries({
    queries: asked.map((one) => ({
      queryKey: ['suggestions', one.name, settled, key],
      queryFn: ({ signal }: { readonly signal: AbortSignal }): Promise<readonly QueryValue[]> =>
        one.suggest?.(settled, terms, signal) ?? Promise.resolve([]),
      retry: false,
    })),
    combine: (results) => ({
      values: results.map(({ data }) => data ?? []),
      isSearching: results.some(({ isPending }) => isPending),
    }),
  });
  const found = new Map(asked.map((one, at) => [one, values[at] ?? []]));
  return { list: suggestionsFor(part, members, terms, found, textMember), isSearching };
}
