import { type QueryMember, type QueryTerm, readValue } from './query-member.js';

/** A part of a typed text: `member:value`, or a text that names no member. */
export interface QueryToken {
  /** The name before the colon, if there is one. */
  readonly name: string | undefined;
  /** The value without its quotes, or the whole text. */
  readonly text: string;
  /** Place of its first character in the typed text. */
  readonly at: number;
  /** As it was typed. */
  readonly typed: string;
}

const TOKEN = /(?:([A-Za-z_]+):\s*)?("(?:[^"\\]|\\.)*"?|[^\s"]\S*|(?<=:))/g;
const MAX_TOKENS = 100;

/** The parts of a typed text, separated by spaces. Values with spaces are in quotes. */
export function tokensOf(typed: string): readonly QueryToken[] {
  const tokens: QueryToken[] = [];
  for (const match of typed.matchAll(TOKEN)) {
    const [whole, name, text = ''] = match;
    if (whole === '' || tokens.length >= MAX_TOKENS) continue;
    tokens.push({ name: name?.toLowerCase(), text: unquoted(text), at: match.index, typed: whole });
  }
  return tokens;
}

/** A term as it is typed. */
export function printTerm(name: string, text: string): string {
  return `${name}:${quoted(text)}`;
}

/** A value as it is typed: with quotes if it would not be read as one otherwise. */
export function quoted(text: string): string {
  return /^[^\s"]+$/.test(text) ? text : `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
}

/** What a typed text says. */
export interface QueryTextReading {
  readonly terms: readonly QueryTerm[];
  /** What could not be read, as it was typed. */
  readonly rest: string;
  /** Why. */
  readonly problem: string | undefined;
}

/** Reads a typed text. Texts that name no member are values of `textMember`, or a problem if there is none. */
export function readQuery(
  typed: string,
  members: readonly QueryMember[],
  textMember?: QueryMember,
): QueryTextReading {
  const terms: QueryTerm[] = [];
  const rest: string[] = [];
  const problems: string[] = [];
  const loose: string[] = [];
  for (const token of tokensOf(typed)) {
    const member = memberOf(members, token.name);
    if (member === undefined) {
      // A colon can be a part of a name.
      if (textMember !== undefined) loose.push(token.name === undefined ? token.text : token.typed);
      else {
        rest.push(token.typed);
        problems.push(unknownText(token, members));
      }
      continue;
    }
    const reading = readValue(member, token.text);
    if ('problem' in reading) {
      rest.push(token.typed);
      problems.push(reading.problem);
    } else if ('value' in reading) terms.push({ member, value: reading.value });
    else terms.push({ member, value: token.text.trim(), isUnknown: true });
  }
  if (textMember !== undefined && loose.length > 0)
    terms.push({ member: textMember, value: loose.join(' ') });
  return { terms, rest: rest.join(' '), problem: problems[0] };
}

/** The member with a name or with one of its earlier names. */
export function memberOf(members: readonly QueryMember[], name: string | undefined): QueryMember | undefined {
  if (name === undefined) return undefined;
  return (
    members.find((member) => member.name === name) ??
    members.find(({ aliases = [] }) => aliases.includes(name))
  );
}

function unknownText(token: QueryToken, members: readonly QueryMember[]): string {
  const possible = members.map(({ name }) => name).join(', ');
  return token.name === undefined
    ? `“${token.text}” does not say what to filter by. Write one of these and a colon before it: ${possible}.`
    : `Nothing can be filtered by “${token.name}”. Possible are: ${possible}.`;
}

function unquoted(text: string): string {
  if (!text.startsWith('"')) return text;
  const inner =
    text.length > 1 && text.endsWith('"') && !text.endsWith('\\"') ? text.slice(1, -1) : text.slice(1);
  return inner.replaceAll(/\\(.)/g, '$1');
}
