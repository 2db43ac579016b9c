import { DIALECT_RULES, type Dialect, NotParsed, scan } from '../../../../packages/sql-reader/src/index.js';

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
