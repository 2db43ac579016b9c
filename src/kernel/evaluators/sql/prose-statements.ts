import { DIALECT_RULES, type Dialect, NotParsed, scan } from '../../../../packages/sql-reader/src/index.js';
import { isSentence } from './prose.js';

/** A place in running text where a statement may begin, and the texts from there that may be one, to be tried in turn. */
export interface ProseStatement {
  readonly start: number;
  readonly candidates: readonly string[];
}

/** Longest statement that is looked for in running text, in UTF-16 code units. */
const MAX_LENGTH = 2_000;
/** Most places of one text, and code units that are looked at for them; a text with more has one more place. */
export const MAX_PLACES = 256;
const MAX_WORK = 2_000_000;

/** Words that begin a statement, with what makes them more than a word of a sentence. */
const STRONG =
  'SELECT|INSERT\\s+(?:INTO|IGNORE|OR)\\b|UPDATE|DELETE(?:\\s+FROM\\b|(?=\\s+[\\w."`[\\]]+\\s*(?:;|WHERE\\b)))|MERGE\\s+INTO\\b|' +
  'REPLACE\\s+INTO\\b|CREATE|DROP|ALTER|TRUNCATE\\s+TABLE\\b|GRANT|REVOKE|WITH\\s+(?:RECURSIVE\\s+)?[\\w"`[\\]]+\\s*(?:\\([^()]*\\)\\s*)?AS\\s*\\(|' +
  'EXPLAIN\\s+(?:ANALYZE\\s+)?(?:SELECT|INSERT|UPDATE|DELETE|WITH)\\b';
/** Words that begin many sentences, too: they count in capitals only. */
const WEAK =
  'TRUNCATE|CALL|EXEC|EXECUTE|COPY|LOCK|ANALYZE|VACUUM|DO|RENAME|LOAD|ATTACH|DETACH|PRAGMA|SHUTDOWN|KILL|FLUSH|REINDEX|' +
  'CLUSTER|REFRESH|NOTIFY|BACKUP|RESTORE|BULK|DBCC|OPTIMIZE|REPAIR|PURGE|FLASHBACK|SET|DENY|COMMENT\\s+ON\\b|IMPORT|PREPARE';
/** A word that nothing joins to the text before it; a line break may be written as an escape. */
const START = new RegExp(
  `(?:(?<![\\w.@$#/\\\\-])|(?<=\\\\[nrt]))(?:${STRONG}|${WEAK})(?=[\\s(*"'\`[]|$)`,
  'gi',
);
const IS_STRONG = new RegExp(`^(?:${STRONG})`, 'i');

const CLOSING: Readonly<Record<string, string>> = {
  '"': '"',
  "'": "'",
  '`': '`',
  '\u201c': '\u201d',
  '\u2018': '\u2019',
  '\u00ab': '\u00bb',
  '(': ')',
  '[': ']',
  '>': '</',
  '*': '*',
};
/** What announces a statement directly before it. */
const ANNOUNCED =
  /\b(?:run|running|exec|execute|executing|issue|sql|quer(?:y|ies)|statements?|commands?|psql|mysql|sqlite|db|database)\b[^.!?\n:]{0,40}:\s*$|\b(?:run|execute|exec|issue|query|sql)\s+$/i;
/** Where markup or the cell of a table ends. */
const MARKUP = /<[/a-z!]|&lt;|\s\||\\+[nrt"]/i;
/** Most lines of a statement that text follows without an empty line. */
const MAX_LINES = 6;
/** Words with which a sentence goes on after a statement. */
const GOES_ON =
  /\s(?:and|then|for|please|now|against|to|so|because|before|after|if|when|but|which|that|or|with|on|in)\s|,\s|\s[-\u2013\u2014]\s/g;
const SYMBOLS = /[*=]|\([^()]*\)/;

/**
 * The places of a text where a complete statement may stand between other words, in markup or in quotes. It is not every
 * place with such a word: a statement ends with a semicolon or where its quotes, its markup or its line end, and is told
 * from a sentence by its capitals, by signs that sentences do not have, or by what announces it. The parser decides.
 */
export function proseStatements(text: string, dialect: Dialect): readonly ProseStatement[] {
  const found: ProseStatement[] = [];
  let work = 0;
  START.lastIndex = 0;
  for (let match = START.exec(text); match !== null; match = START.exec(text)) {
    const rest = paragraphAt(text, match.index);
    work += rest.length;
    const candidates = candidatesAt(text, match.index, rest, match[0], dialect);
    if (candidates.length > 0) found.push({ start: match.index, candidates });
    if (found.length > MAX_PLACES) break;
    if (work > MAX_WORK) return Array.from({ length: MAX_PLACES + 1 }, () => ({ start: 0, candidates: [] }));
    // The next word of this statement may begin one as well.
    START.lastIndex = match.index + 1;
  }
  return found;
}

/** The text from a place to the next empty line or fence. */
function paragraphAt(text: string, start: number): string {
  const rest = text.slice(start, start + MAX_LENGTH);
  const end = rest.search(/\n[^\S\n]*(?:\n|```|~~~)/);
  return end < 0 ? rest : rest.slice(0, end);
}

function candidatesAt(
  text: string,
  start: number,
  rest: string,
  opening: string,
  dialect: Dialect,
): readonly string[] {
  const [first = ''] = opening.split(/\s/);
  const inCapitals = first === first.toUpperCase();
  const isStrong = IS_STRONG.test(rest);
  if (!isStrong && !inCapitals) return [];
  const before = text.slice(Math.max(0, start - MAX_LENGTH), start);
  const line = before.slice(before.lastIndexOf('\n') + 1);
  // A comment is not run.
  if (line.trimStart().startsWith('--')) return [];
  const ownLine = line.trim() === '' && isStrong && (inCapitals || first === first.toLowerCase());
  const isAnnounced = ANNOUNCED.test(before.slice(-80));
  const isTold = (candidate: string): boolean =>
    inCapitals || isAnnounced || ownLine || SYMBOLS.test(candidate);
  const candidates = new Set<string>();
  const add = (candidate: string | null, complete: boolean): void => {
    if (candidate === null) return;
    const trimmed = candidate.trim();
    if (isSentence(trimmed) || !/\S\s+\S/.test(trimmed) || !(complete || isTold(trimmed))) return;
    candidates.add(trimmed);
  };
  const close = CLOSING[text[start - 1] ?? ''];
  if (close !== undefined) add(upTo(rest, rest.indexOf(close)), isStrong);
  if (rest.includes(';')) add(firstStatement(rest, dialect), isStrong);
  add(rest, false);
  const lines = rest.split('\n', MAX_LINES);
  for (let count = lines.length; count > 1; count -= 1) add(lines.slice(0, count).join('\n'), false);
  const [ownText = ''] = lines;
  add(ownText, false);
  add(ownText.trimEnd().replace(/[.!?,:;)\]]{1,5}$/, ''), false);
  add(upTo(ownText, ownText.search(/[.!?](?:\s|$)/)), false);
  add(upTo(ownText, ownText.search(MARKUP)), false);
  if (inCapitals || isAnnounced) {
    for (const { index } of [...ownText.matchAll(GOES_ON)].slice(0, 4)) add(ownText.slice(0, index), false);
  }
  return [...candidates];
}

const upTo = (text: string, end: number): string | null => (end < 0 ? null : text.slice(0, end));

/** The first of several statements in a text, as far as it can be determined; null otherwise. */
export function firstStatement(text: string, dialect: Dialect): string | null {
  let end = -1;
  let begun = false;
  try {
    scan(text, DIALECT_RULES[dialect], (kind, start) => {
      const separates = kind === 'symbol' && text[start] === ';';
      if (separates && begun && end < 0) end = start;
      if (!separates && kind !== 'comment') begun = true;
    });
  } catch (error) {
    // The fault comes later: databases that read one statement after the other execute the first one.
    if (!(error instanceof NotParsed)) throw error;
  }
  return end < 0 ? null : text.slice(0, end);
}
