import { type QueryMember, type QueryTerm, termOf, withTerm } from './query-member.js';

const MAX_VALUES = 100;

/** The terms of an address: of each parameter that is a member, also of those of earlier versions. */
export function termsOfAddress(
  parameters: URLSearchParams,
  members: readonly QueryMember[],
): readonly QueryTerm[] {
  let terms: readonly QueryTerm[] = [];
  // In the order of the address, which is that of the chips.
  for (const [name, text] of [...parameters].slice(0, MAX_VALUES)) {
    const member =
      members.find((one) => one.name === name) ?? members.find(({ aliases = [] }) => aliases.includes(name));
    if (member === undefined || text.trim() === '') continue;
    const values = member.separator === undefined ? [text] : text.split(member.separator);
    for (const value of values.slice(0, MAX_VALUES)) {
      if (value.trim() !== '') terms = withTerm(terms, termOf(member, value.trim()));
    }
  }
  return terms;
}

/** The parameters of an address with these terms. Parameters that are no members stay. */
export function addressWith(
  parameters: URLSearchParams,
  members: readonly QueryMember[],
  terms: readonly QueryTerm[],
): URLSearchParams {
  const next = new URLSearchParams(parameters);
  for (const { name, aliases = [] } of members) for (const one of [name, ...aliases]) next.delete(one);
  for (const { member, value } of terms) next.append(member.name, value);
  return next;
}
