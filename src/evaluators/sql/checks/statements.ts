import { type Check, violation } from './check.js';

/** How many statements the text holds. */
export const checkStatements: Check = ({ statementCount }, config) => {
  if (!config.allowMultiStatements && statementCount > 1) {
    return violation(
      `${statementCount} statements, one is allowed`,
      { statement_count: statementCount },
      'query',
    );
  }
  const { maxStatements } = config;
  if (maxStatements === null || statementCount <= maxStatements) return null;
  return violation(
    `${statementCount} statements, more than ${maxStatements}`,
    { statement_count: statementCount, max_statements: maxStatements },
    'query',
  );
};
