import type { JsonObject } from '../../../../packages/exact-json/src/index.js';
import { quoted } from '../../../contract/errors/quoted.js';
import { createSuggester, type Suggester } from '../../../contract/warnings/suggestion.js';
import type { ConfigUse, ConfigWarning, ForegoneResult } from '../../core/evaluator.js';
import { hasAllowList } from './allow-list.js';
import { isAnythingChecked, readSqlConfig, sqlConfigSchema } from './config.js';

/** Operations named by the contract. */
const OPERATIONS = [
  ...['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'MERGE', 'CREATE', 'DROP', 'ALTER', 'RENAME', 'TRUNCATE'],
  ...['COMMENT', 'GRANT', 'REVOKE', 'COMMIT', 'ROLLBACK', 'SET', 'SHOW', 'USE', 'DESCRIBE', 'COPY', 'LOCK'],
  ...['ANALYZE', 'COMMAND'],
];
/** Statement words that resemble one of OPERATIONS without being a misspelling. */
const OTHER_OPERATIONS = new Set(['LOAD', 'EXPLAIN', 'REPLACE', 'EXECUTE', 'EXEC', 'CALL', 'DENY']);

const NAME_LISTS = [
  'allowed_tables',
  'blocked_tables',
  'allowed_schemas',
  'blocked_schemas',
  'required_columns',
] as const;
const QUOTES = /^["'`[]|["'`\]]$/;

/** Warnings about an `sql` configuration. */
export function* sqlWarnings(
  source: JsonObject,
  { selectorPath }: ConfigUse,
): Generator<ConfigWarning, void> {
  const suggester = createSuggester();
  const read = sqlConfigSchema.safeParse(source);
  if (!read.success) return;
  const config = read.data;
  if (!isAnythingChecked(readSqlConfig(source))) {
    yield { code: 'no_effect', path: [], message: 'no check is configured, so no query matches' };
  }
  for (const member of ['blocked_operations', 'allowed_operations'] as const) {
    for (const [index, name] of (config[member] ?? []).entries()) {
      const message = operationProblem(name, suggester);
      if (message !== null) yield { code: 'unknown_value', path: [member, index], message };
    }
  }
  for (const member of NAME_LISTS) {
    for (const [index, name] of (config[member] ?? []).entries()) yield* nameWarnings(name, [member, index]);
  }
  for (const member of ['max_subquery_depth', 'max_joins', 'max_union_count'] as const) {
    if (config[member] !== 0) continue;
    yield { code: 'no_effect', path: [member], message: '0 switches the check off; it does not mean none' };
  }
  if (config.unknown_functions === 'allow')
    yield unknownFunctionsWarning(hasAllowList(readSqlConfig(source)));
  if ((config.required_columns ?? []).length === 0) {
    for (const member of ['column_presence_logic', 'column_context', 'column_context_scope']) {
      if (!Object.hasOwn(source, member) || source[member] === null) continue;
      yield { code: 'no_effect', path: [member], message: 'has no effect without required_columns' };
    }
  }
  if ((config.required_column_values ?? []).length > 0 && selectorPath !== '*') {
    const message =
      `with the selector ${quoted(selectorPath)} the context is a member of the selected data, ` +
      'which the agent itself writes; use the selector "*"';
    yield { code: 'context_from_data', path: ['required_column_values'], message };
  }
}

function unknownFunctionsWarning(isUsed: boolean): ConfigWarning {
  const path = ['unknown_functions'];
  if (!isUsed) return { code: 'no_effect', path, message: 'has no effect without an allow list' };
  const message =
    'lets a SELECT call any function, also one that writes, waits, reads files or runs statements; ' +
    'leave it out where the user of the database cannot be restricted to harmless ones';
  return { code: 'unknown_functions_allowed', path, message };
}

function operationProblem(name: string, { closest }: Suggester): string | null {
  const upper = name.toUpperCase();
  if (OPERATIONS.includes(upper) || OTHER_OPERATIONS.has(upper)) return null;
  if (!/^[A-Z_]+$/.test(upper)) {
    const [first] = upper.trim().split(/\s/);
    const advice = first !== undefined && OPERATIONS.includes(first) ? `; did you mean ${first}?` : '';
    return `${quoted(name)} is no operation: operations are single words${advice}`;
  }
  const meant = closest(upper, OPERATIONS);
  return meant === undefined ? null : `there is no operation ${quoted(name)}; did you mean ${meant}?`;
}

/** Names are compared without schema, quotes or surrounding text. */
function* nameWarnings(name: string, path: ConfigWarning['path']): Generator<ConfigWarning, void> {
  const never = (message: string): ConfigWarning => ({ code: 'never_matches', path, message });
  if (name.trim() !== name) {
    const message = `${quoted(name)} has blanks around it, and names are compared exactly`;
    yield { code: 'surrounding_blanks', path, message };
  } else if (QUOTES.test(name)) {
    yield never(`${quoted(name)} is compared with names without their quotes`);
  } else if (name.includes('.') && path[0] !== 'required_columns') {
    yield never(`${quoted(name)} is compared with names without the part before the dot`);
  }
}

/** Without any check no query matches. */
export function sqlForegone(source: JsonObject): ForegoneResult | null {
  if (!sqlConfigSchema.safeParse(source).success || isAnythingChecked(readSqlConfig(source))) return null;
  return { data: false, absent: false };
}
