import { readGeneralStatement } from './general-tree.js';
import { type Dialect, NotCertain, NotParsed, type ParsedQuery, type Statement } from './model.js';
import { type PlainStatement, plainText } from './plain-text.js';

/** Answer of the parser: its trees, or the reason of a rejection. `died` when the worker crashed instead. */
export type ParserAnswer =
  | { readonly statements: readonly unknown[] }
  | { readonly refused: string; readonly died?: true };

/** Runs `PARSER_WORKER`. */
export interface GeneralParser {
  /**
   * Parses a text. A text that crashes the parser is rejected. Rejects with a message that contains "timeout"
   * when the parser takes too long or too many texts wait, and with the signal's reason when it is aborted.
   */
  parse(text: string, dialect: string, signal: AbortSignal): Promise<ParserAnswer>;
}

const PARSER_DIALECTS: Readonly<Record<Exclude<Dialect, 'postgres'>, string>> = {
  mysql: 'mysql',
  tsql: 'mssql',
  oracle: 'oracle',
  sqlite: 'sqlite',
};

/** Parses a text of a dialect without its own parser here. Rejects with NotParsed if it is not valid SQL. */
export async function parseGeneral(
  text: string,
  dialect: Exclude<Dialect, 'postgres'>,
  parser: GeneralParser,
  signal: AbortSignal,
): Promise<ParsedQuery> {
  const plain = plainText(text, dialect);
  const answer = await parser.parse(plain.text, PARSER_DIALECTS[dialect], signal);
  if ('refused' in answer) {
    throw answer.died === true ? new NotCertain(answer.refused) : new NotParsed(answer.refused);
  }
  const trees = answer.statements;
  // Where parser and lexer disagree, one of them has misread what the server will execute.
  if (trees.length !== plain.statements.length) {
    throw new NotCertain('it is not certain where the statements end');
  }
  const { strings, uncertainConjunctions } = plain;
  const statements = trees.map((tree) =>
    readGeneralStatement(tree, { dialect, strings, uncertainConjunctions }),
  );
  if (dialect === 'tsql') {
    for (const [index, statement] of statements.entries()) {
      refuseHiddenStatement(plain.statements[index] as PlainStatement, statement);
    }
  }
  return { statements, statementCount: trees.length + (plain.commentAfterLast ? 1 : 0) };
}

/**
 * T-SQL needs no semicolon between statements: what the parser reads as an alias (`SELECT * FROM a COMMIT`)
 * may be a statement. These words are reserved, so one that is not an operation of the statement was misread.
 */
function refuseHiddenStatement({ statementWords }: PlainStatement, { operations }: Statement): void {
  const known = new Set(operations.flatMap(({ name, also }) => [name, ...also]));
  for (const word of statementWords) {
    if (!known.has(word)) throw new NotCertain('a statement is hidden behind another one');
  }
}
