import { DIALECT_RULES } from './dialect-rules.js';
import { scan } from './lexer.js';
import { type Dialect, NotCertain, NotParsed } from './model.js';
import { withPlainPlaceholders } from './placeholders.js';
import { createBoundsCheck, type ParserBounds } from './token-bounds.js';
import { wordSet } from './word-set.js';

/**
 * The general parser implements the quotes and comments of the dialects less precisely than required here:
 * what it treats as a comment may be executed by the server. So it never receives any. Its input is the
 * tokens of our lexer, written in the plainest form: no comments, no escapes, every string that is not plain
 * replaced by a mark.
 */
export interface PlainText {
  readonly text: string;
  /** Contents of the marks. */
  readonly strings: readonly string[];
  /** Non-empty parts between semicolons: the parser must find as many statements. */
  readonly statements: readonly PlainStatement[];
  readonly commentAfterLast: boolean;
  /** MySQL: an operator occurs whose precedence relative to AND is unknown to the parser. */
  readonly uncertainConjunctions: boolean;
}

export interface PlainStatement {
  /** Its first word, in upper case; empty when it begins with another token. */
  readonly firstWord: string;
  /** T-SQL: reserved words that may begin a statement anywhere, without a semicolon. */
  readonly statementWords: ReadonlySet<string>;
}

/** Precedes the number of a string: a private-use character, which does not occur in plain text. */
const MARK = '\ue000';
const PLAIN_STRING = /^[A-Za-z0-9_ .,:@%+=<>/-]*$/;
const PLAIN_NAME = /^[^'"`[\]\\\p{Cc}\p{Co}]*$/u;

/** Stricter than for PostgreSQL's parser: time grows with depth, and the worker has to survive. */
const BOUNDS: ParserBounds = {
  maxLength: 500_000,
  maxTokens: 10_000,
  maxDepth: 600,
  flatConjunctions: false,
};

const NAME_QUOTES: Readonly<Record<Dialect, readonly [string, string]>> = {
  postgres: ['"', '"'],
  mysql: ['`', '`'],
  tsql: ['[', ']'],
  oracle: ['"', '"'],
  sqlite: ['"', '"'],
};

const STATEMENT_WORDS = wordSet(
  'INSERT UPDATE DELETE MERGE CREATE DROP ALTER TRUNCATE GRANT REVOKE DENY COMMIT ROLLBACK EXEC EXECUTE SHUTDOWN ' +
    'BACKUP RESTORE KILL DBCC RECONFIGURE REVERT CHECKPOINT USE',
);
/** Words that make the next one part of a clause: ON DELETE CASCADE, FOR UPDATE, AFTER INSERT, TO UPDATE. */
const CLAUSE_WORDS = new Set(['ON', 'FOR', 'AFTER', 'OF', 'THEN', 'GRANT', 'REVOKE', 'DENY', 'BEFORE']);

/** Splits a text into tokens and rewrites it. Throws NotParsed. */
export function plainText(given: string, dialect: Dialect): PlainText {
  if (given.length > BOUNDS.maxLength) throw new NotCertain('the query is too long');
  const text = withPlainPlaceholders(given, dialect);
  const rules = DIALECT_RULES[dialect];
  const bounds = createBoundsCheck(BOUNDS);
  const [openName, closeName] = NAME_QUOTES[dialect];
  const parts: string[] = [];
  const strings: string[] = [];
  const statements: { firstWord: string; statementWords: Set<string> }[] = [];
  let statement: (typeof statements)[number] | null = null;
  let separators = 0;
  let commentAfterLast = false;
  let uncertainConjunctions = false;
  let previousEnd = 0;
  let previousWord = '';
  let previousSymbol = '';

  scan(text, rules, (kind, start, end, value) => {
    if (kind === 'comment') {
      commentAfterLast ||= separators > 0 && statement === null;
      // Leaving `previousEnd` unchanged puts a blank in place of the comment.
      return;
    }
    const written = text.slice(start, end);
    const adjacent = start === previousEnd;
    // Two separate signs must not become one comment.
    if (!adjacent || (previousSymbol === '-' && written === '-')) parts.push(' ');
    previousEnd = end;
    commentAfterLast = false;
    if (written === ';') {
      bounds.symbol(59);
      parts.push(';');
      separators += 1;
      statement = null;
      previousWord = '';
      previousSymbol = ';';
      return;
    }
    if (statement === null) {
      statement = { firstWord: kind === 'word' ? written.toUpperCase() : '', statementWords: new Set() };
      statements.push(statement);
    }
    if (kind === 'word') {
      const upper = written.toUpperCase();
      bounds.word(upper);
      if (dialect === 'mysql' && upper === 'XOR') uncertainConjunctions = true;
      if (STATEMENT_WORDS.has(upper) && previousSymbol !== '.' && !CLAUSE_WORDS.has(previousWord)) {
        statement.statementWords.add(upper);
      }
      parts.push(written);
      previousWord = upper;
      previousSymbol = '';
      return;
    }
    if (kind === 'symbol') {
      bounds.symbol(text.charCodeAt(start));
      if (dialect === 'mysql' && written === '|' && previousSymbol === '|' && adjacent) {
        uncertainConjunctions = true;
      }
      // `$a(…)`, `@a(…)`: SQLite reads everything up to the bracket as the name of a variable.
      if (
        dialect === 'sqlite' &&
        written === '(' &&
        /[$@:#][\w$:]*$/.test(text.slice(Math.max(0, start - 80), start))
      ) {
        throw new NotCertain('a variable is followed by a bracket');
      }
      if (dialect === 'mysql' && written === '=' && previousSymbol === ':') uncertainConjunctions = true;
      parts.push(written);
      previousSymbol = written;
      previousWord = '';
      return;
    }
    bounds.plain();
    previousSymbol = '';
    previousWord = '';
    if (kind === 'number') parts.push(written);
    else if (kind === 'name') {
      if (!PLAIN_NAME.test(value)) throw new NotCertain('a quoted name holds a quote or a control character');
      parts.push(openName, value, closeName);
    } else if (PLAIN_STRING.test(value)) parts.push("'", value, "'");
    else {
      parts.push("'", MARK, String(strings.length), "'");
      strings.push(value);
    }
  });
  if (statements.length === 0) throw new NotParsed('there is no statement');
  return { text: parts.join(''), strings, statements, commentAfterLast, uncertainConjunctions };
}

/** The content of a string in the parser's tree. */
export function unmarked(value: string, strings: readonly string[]): string {
  return value.startsWith(MARK) ? (strings[Number(value.slice(1))] ?? value) : value;
}
