import { DIALECT_RULES } from './dialect-rules.js';
import { scan } from './lexer.js';
import { NotCertain, NotParsed, type ParsedQuery } from './model.js';
import { withPlainPlaceholders } from './placeholders.js';
import type { LiteralReader } from './postgres-nodes.js';
import { readPostgresStatement } from './postgres-tree.js';
import { createBoundsCheck, type ParserBounds } from './token-bounds.js';
import type { Node } from './tree-node.js';

/**
 * The parser runs in the process, synchronously. With these bounds the worst text measured takes some 50 ms, and the
 * tree stays at a tenth of the depth at which the parser's stack overflows.
 */
const BOUNDS: ParserBounds = {
  maxLength: 500_000,
  maxTokens: 10_000,
  maxDepth: 500,
  flatConjunctions: true,
};
const RULES = DIALECT_RULES.postgres;

/** Signs that the scanner reads together, comments included, restarting after each sign that opens one. */
const SIGN_RUN = /[~!@#^&|`?+\-*/%<>=]+/g;
/** Largest sum of squared lengths of runs that open comments: some 15 ms. 100 signs in a line are 10,000. */
const MAX_SIGN_WORK = 20_000_000;

type TreeParser = (text: string) => unknown;

let parse: TreeParser | undefined;
let loading: Promise<TreeParser> | undefined;

/** Loads the parser, some 50 ms and 15 MB: with the first control that needs it, before its first evaluation. */
export function loadPostgres(): Promise<TreeParser> {
  loading ??= load().catch((cause: unknown) => {
    // The next text tries again.
    loading = undefined;
    throw new Error('the PostgreSQL parser (package libpg-query) cannot be loaded', { cause });
  });
  return loading;
}

async function load(): Promise<TreeParser> {
  const { loadModule, parseSync } = await import('libpg-query');
  await loadModule();
  parse = parseSync;
  return parseSync;
}

/** Number of cached texts, and their total length, in UTF-16 code units. */
const MAX_KEPT = 32;
const MAX_KEPT_LENGTH = 200_000;

/** The last parsed texts with their outcomes: the controls of an agent check the same texts in turn. */
const kept = new Map<string, ParsedQuery | NotParsed>();
let keptLength = 0;

/**
 * Parses a text as PostgreSQL does; later, if the parser is still being loaded. Throws, or rejects with, NotParsed for
 * text that is invalid or too large.
 */
export function parsePostgres(text: string): ParsedQuery | Promise<ParsedQuery> {
  if (parse !== undefined) return parseOnce(text, parse);
  return loadPostgres().then((loaded) => parseOnce(text, loaded));
}

function parseOnce(text: string, parser: TreeParser): ParsedQuery {
  let outcome = kept.get(text);
  if (outcome === undefined) {
    outcome = outcomeOf(text, parser);
    keep(text, outcome);
  }
  if (outcome instanceof NotParsed) throw outcome;
  return outcome;
}

/** Caches an outcome; the oldest ones are evicted. The last one is kept whatever its length. */
function keep(text: string, outcome: ParsedQuery | NotParsed): void {
  for (const first of kept.keys()) {
    if (kept.size < MAX_KEPT && keptLength + text.length <= MAX_KEPT_LENGTH) break;
    kept.delete(first);
    keptLength -= first.length;
  }
  kept.set(text, outcome);
  keptLength += text.length;
}

function outcomeOf(text: string, parser: TreeParser): ParsedQuery | NotParsed {
  try {
    return parseAnew(text, parser);
  } catch (error) {
    if (error instanceof NotParsed) return error;
    throw error;
  }
}

function parseAnew(given: string, parser: TreeParser): ParsedQuery {
  if (given.length > BOUNDS.maxLength) throw new NotCertain('the query is too long');
  refuseSignRuns(given);
  const text = withPlainPlaceholders(given, 'postgres');
  const bounds = createBoundsCheck(BOUNDS);
  let commentAfterLast = false;
  let tokens = false;
  let separators = 0;
  scan(text, RULES, (kind, start, end) => {
    if (kind === 'comment') {
      commentAfterLast ||= separators > 0 && !tokens;
      return;
    }
    if (kind === 'word') bounds.word(text.slice(start, end).toUpperCase());
    else if (kind === 'symbol') bounds.symbol(text.charCodeAt(start));
    else bounds.plain();
    const separator = kind === 'symbol' && text[start] === ';';
    if (separator) separators += 1;
    tokens = !separator;
    commentAfterLast = false;
  });
  const statements = parseTrees(text, parser);
  if (statements.length === 0) throw new NotParsed('there is no statement');
  const literals = createLiteralReader(text);
  return {
    statements: statements.map((tree) => readPostgresStatement(tree, literals)),
    statementCount: statements.length + (commentAfterLast ? 1 : 0),
  };
}

function refuseSignRuns(text: string): void {
  let work = 0;
  for (const [run] of text.matchAll(SIGN_RUN)) {
    if (run.includes('/*')) work += run.length ** 2;
    if (work > MAX_SIGN_WORK) throw new NotCertain('the query has too many comments without a blank between');
  }
}

function parseTrees(text: string, parser: TreeParser): Node[] {
  let result: { stmts?: { stmt?: unknown }[] };
  try {
    result = parser(text) as { stmts?: { stmt?: unknown }[] };
  } catch (error) {
    throw new NotParsed(error instanceof Error ? error.message : 'the parser failed');
  }
  return (result.stmts ?? []).flatMap(({ stmt }) => (stmt === undefined ? [] : [stmt as Node]));
}

/** Returns the token before a constant, which is not in the tree: LIMIT 5, LIMIT (5) and FETCH FIRST 5. */
function createLiteralReader(text: string): LiteralReader {
  let before: Map<number, string> | undefined;
  return (location) => {
    before ??= wordsBefore(text);
    return before.get(location) ?? '';
  };
}

/** The token before each number, by the byte position of the number, as the parser counts. */
function wordsBefore(text: string): Map<number, string> {
  const words = new Map<number, string>();
  let previous = '';
  let bytes = 0;
  let counted = 0;
  scan(text, RULES, (kind, start, end) => {
    if (kind === 'comment') return;
    if (kind === 'number') {
      bytes += Buffer.byteLength(text.slice(counted, start));
      counted = start;
      words.set(bytes, previous);
    }
    previous = kind === 'word' || kind === 'symbol' ? text.slice(start, end).toUpperCase() : '';
  });
  return words;
}
