/** Reading SQL of migrations: just enough to tell its statements apart, with quotes and comments respected. */

/** Texts and names in quotes, dollar-quoted texts, comments; then any other character. */
const TOKEN = /'(?:[^']|'')*'|"(?:[^"]|"")*"|(\$\w*\$)[\s\S]*?\1|--[^\n]*|\/\*[\s\S]*?\*\/|[\s\S]/g;

/** The parts of an SQL text between separators that are in no quotes and no parentheses; comments are removed. */
export function splitSql(sql: string, separator: string): string[] {
  const parts: string[] = [];
  let part = '';
  let depth = 0;
  for (const [token] of sql.matchAll(TOKEN)) {
    if (token === '(') depth += 1;
    else if (token === ')') depth -= 1;
    if (token === separator && depth === 0) {
      parts.push(part);
      part = '';
    } else if (token.startsWith('--') || token.startsWith('/*')) part += ' ';
    else part += token;
  }
  parts.push(part);
  return parts.map((each) => each.trim()).filter((each) => each !== '');
}

/** A trigger of SQLite, whose body has statements of its own up to a line with END. */
const TRIGGER_WITH_BODY = /^CREATE TRIGGER\b.*\sBEGIN\s/is;

/** The statements of an SQL text without comments. */
export function sqlStatements(sql: string): string[] {
  const statements: string[] = [];
  let trigger = '';
  for (const part of splitSql(sql, ';')) {
    if (trigger !== '') trigger += `; ${part}`;
    else if (TRIGGER_WITH_BODY.test(part)) trigger = part;
    else statements.push(part);
    if (trigger === '' || !/^END$/i.test(part)) continue;
    statements.push(trigger);
    trigger = '';
  }
  return trigger === '' ? statements : [...statements, trigger];
}

/** The keywords of a column definition outside of quotes and parentheses, in upper case; NOT NULL is one of them. */
export function namesIn(definition: string): string[] {
  let depth = 0;
  let plain = '';
  for (const [token] of definition.matchAll(TOKEN)) {
    if (token === '(') depth += 1;
    else if (token === ')') depth -= 1;
    else if (depth === 0) plain += token.length > 1 ? ' ' : token;
  }
  return plain
    .toUpperCase()
    .replace(/\bNOT\s+NULL\b/g, 'NOT_NULL')
    .split(/[^\w]+/)
    .map((word) => word.replace('_', ' '));
}

/** The columns that an UPDATE assigns; empty for other statements and forms. */
export function columnsAssigned(statement: string): string[] {
  const assignments = /^UPDATE "?\w+"?\s+SET\s+(.*)$/is.exec(statement)?.[1];
  if (assignments === undefined) return [];
  return splitSql(assignments, ',').map((each) => /^"?(\w+)"?\s*=/.exec(each)?.[1] ?? '');
}
