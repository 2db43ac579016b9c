export { DIALECT_RULES } from './dialect-rules.js';
export { type GeneralParser, type ParserAnswer, parseGeneral } from './general-parser.js';
export { scan, type TokenKind } from './lexer.js';
export {
  type ColumnReference,
  DIALECTS,
  type Dialect,
  type EqualityTest,
  NotCertain,
  NotParsed,
  type Operation,
  type ParsedQuery,
  type SelectBlock,
  type Statement,
  type TableReference,
  type Use,
} from './model.js';
export { loadPostgres, parsePostgres } from './postgres-parser.js';

/** The worker of the general parser; the messages are described there. */
export const PARSER_WORKER = new URL('./parser-worker.mjs', import.meta.url);
