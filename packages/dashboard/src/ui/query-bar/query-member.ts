/** A value of a member, as it is stored in the address and as it is shown. */
export interface QueryValue {
  readonly value: string;
  /** As one types and reads it. The value itself if absent. */
  readonly text?: string | undefined;
  /** What one should know to choose it. */
  readonly hint?: string | undefined;
}

/** What a text says: a value, why there is none, or that only the server knows. */
export type QueryReading =
  | { readonly value: string }
  | { readonly problem: string }
  | { readonly isUnknown: true };

/** Something that a query can select by, for example `agent`. Each page declares its own. */
export interface QueryMember {
  /** As it is typed, and the name of its parameter in the address. */
  readonly name: string;
  /** What it selects, in a few words. */
  readonly hint: string;
  /** Names of the parameter in addresses of earlier versions. */
  readonly aliases?: readonly string[];
  /** Whether a query can have several of its values, of which one must hold. */
  readonly isMultiple?: boolean;
  /** All values, if they are known. Any other one is a problem. */
  readonly values?: readonly QueryValue[];
  /** Some values with a text in them, from the server; the terms are those that the query has already. */
  readonly suggest?: (
    part: string,
    terms: readonly QueryTerm[],
    signal: AbortSignal,
  ) => Promise<readonly QueryValue[]>;
  /** Whether its values are suggested for texts that name no member, too. */
  readonly isSearched?: boolean;
  /** Reads a typed text or a value of the address. Any text is a value if absent. */
  readonly read?: (text: string) => QueryReading;
  /** Finds the value of a text for which `read` says that it is unknown. */
  readonly find?: (text: string, signal: AbortSignal) => Promise<QueryReading>;
  /** The text of a value that is shown instead of it; undefined if it has none. */
  readonly textOf?: (value: string, signal: AbortSignal) => Promise<string | undefined>;
  /** Separates several values in one parameter, in addresses of earlier versions. */
  readonly separator?: string;
}

/** A condition of a query: a member with a value. */
export interface QueryTerm {
  readonly member: QueryMember;
  readonly value: string;
  /** Why it cannot be used. */
  readonly problem?: string;
  /** Whether the server has to be asked what it means. */
  readonly isUnknown?: boolean;
}

const LONGEST_VALUE = 1_024;

/** Reads a text as a value of a member. */
export function readValue(member: QueryMember, text: string): QueryReading {
  const trimmed = text.trim();
  if (trimmed === '') return { problem: `${member.name} needs a value, for example ${exampleOf(member)}.` };
  if (trimmed.length > LONGEST_VALUE) return { problem: `A value has at most ${LONGEST_VALUE} characters.` };
  if (member.values !== undefined) return readListed(member, member.values, trimmed);
  return member.read?.(trimmed) ?? { value: trimmed };
}

/** A term for a value of the address. */
export function termOf(member: QueryMember, value: string): QueryTerm {
  const reading = readValue(member, value);
  if ('value' in reading) return { member, value: reading.value };
  return 'problem' in reading
    ? { member, value, problem: reading.problem }
    : { member, value, isUnknown: true };
}

/** The terms with another one: a member with one value loses the one that it had. */
export function withTerm(terms: readonly QueryTerm[], term: QueryTerm): readonly QueryTerm[] {
  const others = terms.filter(
    ({ member, value }) =>
      member.name !== term.member.name || (term.member.isMultiple === true && value !== term.value),
  );
  return [...others, term];
}

/** The values that the terms have of a member. */
export function valuesOf(terms: readonly QueryTerm[], name: string): readonly string[] {
  return terms.filter(({ member }) => member.name === name).map(({ value }) => value);
}

/** The only value that the terms have of a member; undefined without one. */
export function onlyValueOf(terms: readonly QueryTerm[], name: string): string | undefined {
  return valuesOf(terms, name)[0];
}

export function textOfValue({ value, text = value }: QueryValue): string {
  return text;
}

function readListed(member: QueryMember, values: readonly QueryValue[], text: string): QueryReading {
  const typed = text.toLowerCase();
  const found = values.find(
    (one) => one.value.toLowerCase() === typed || textOfValue(one).toLowerCase() === typed,
  );
  if (found !== undefined) return { value: found.value };
  const possible = values.map(textOfValue).join(', ');
  return { problem: `“${text}” is not a value of ${member.name}. Possible are: ${possible}.` };
}

function exampleOf({ name, values = [] }: QueryMember): string {
  const [first] = values;
  return `${name}:${first === undefined ? 'value' : textOfValue(first)}`;
}
