import { type QueryMember, type QueryTerm, type QueryValue, textOfValue, valuesOf } from './query-member.js';
import { memberOf, type QueryToken, tokensOf } from './query-text.js';

/** What can be chosen: a member, of which a value follows, or a term. */
export interface Suggestion {
  readonly member: QueryMember;
  /** Absent: the member alone. */
  readonly value?: QueryValue;
}

const MAX_OF_MEMBER = 50;
const MAX_FOUND = 6;

/** The place in a typed text that suggestions are for: its last part, or what follows it. */
export interface TypedPart {
  /** What stands before it. */
  readonly before: string;
  readonly member: QueryMember | undefined;
  readonly text: string;
}

export function typedPart(typed: string, members: readonly QueryMember[]): TypedPart {
  const last = tokensOf(typed).at(-1);
  if (last === undefined || isComplete(typed, last)) return { before: typed, member: undefined, text: '' };
  const member = memberOf(members, last.name);
  const before = typed.slice(0, last.at);
  return member === undefined && last.name !== undefined
    ? { before, member: undefined, text: last.typed }
    : { before, member, text: last.text };
}

/** The members of which the server is asked for values. */
export function askedMembers(
  { member, text }: TypedPart,
  members: readonly QueryMember[],
): readonly QueryMember[] {
  if (member !== undefined) return member.suggest === undefined ? [] : [member];
  return text === ''
    ? []
    : members.filter(({ isSearched, suggest }) => isSearched === true && suggest !== undefined);
}

/** What is suggested, with what the server has found. */
export function suggestionsFor(
  part: TypedPart,
  members: readonly QueryMember[],
  terms: readonly QueryTerm[],
  found: ReadonlyMap<QueryMember, readonly QueryValue[]>,
  textMember?: QueryMember,
): readonly Suggestion[] {
  const { member, text } = part;
  const isNew = (one: QueryMember) => (value: QueryValue) => !valuesOf(terms, one.name).includes(value.value);
  if (member !== undefined) {
    return [...valuesWith(member, text), ...(found.get(member) ?? [])]
      .filter(isNew(member))
      .slice(0, MAX_OF_MEMBER)
      .map((value) => ({ member, value }));
  }
  const typed = text.toLowerCase();
  const named = members.filter(({ name }) => name.includes(typed));
  const starting = named.filter(({ name }) => name.startsWith(typed));
  const suggestions: Suggestion[] = [...new Set([...starting, ...named])].map((one) => ({ member: one }));
  if (typed === '') return suggestions;
  const values = members.flatMap((one) =>
    [...valuesWith(one, text), ...(found.get(one) ?? []).slice(0, MAX_FOUND)]
      .filter(isNew(one))
      .map((value) => ({ member: one, value })),
  );
  const asText = textMember === undefined ? [] : [{ member: textMember, value: { value: text } }];
  return [...asText, ...suggestions, ...values];
}

function valuesWith({ values = [] }: QueryMember, part: string): readonly QueryValue[] {
  const typed = part.toLowerCase();
  return values.filter((value) => textOfValue(value).toLowerCase().includes(typed));
}

/** Whether a space ends the last part; a space after a colon or within quotes does not. */
function isComplete(typed: string, { typed: last, at }: QueryToken): boolean {
  const isOpenQuote = /^(?:[A-Za-z_]+:\s*)?"(?:[^"\\]|\\.)*$/.test(last);
  return !isOpenQuote && at + last.length < typed.length && !/:\s*$/.test(typed);
}
