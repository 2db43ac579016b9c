import { Parser } from 'yaml';
import type { FileProblem } from './problems.js';

/** A comment that accepts what a rule finds on the next line. */
export interface DisableComment extends Omit<FileProblem, 'message'> {
  readonly rule: string;
  /** Empty without one. */
  readonly reason: string;
  /** The next line that is no comment. */
  readonly target: number;
}

const WORD = 'lint-disable-next-line';
const FORM = /^#\s*lint-disable-next-line(?:\s+(\S+)(?:\s+(.*\S))?)?\s*$/;

/** The comments of a file of YAML that disable a rule: those on a line of their own. JSON has no comments. */
export function disableComments(file: string, text: string): DisableComment[] {
  if (!text.includes(WORD)) return [];
  const found: DisableComment[] = [];
  const lines = text.split('\n');
  const starts: number[] = [];
  let start = 0;
  for (const line of lines) {
    starts.push(start);
    start += line.length + 1;
  }
  for (const { offset, source } of commentsIn([...new Parser().parse(text)])) {
    const match = FORM.exec(source.trimEnd());
    if (match === null) continue;
    const line = starts.findLastIndex((at) => at <= offset);
    const before = (lines[line] ?? '').slice(0, offset - (starts[line] ?? 0));
    if (before.trim() !== '') continue;
    let target = line + 1;
    while (target < lines.length && /^\s*(?:#|$)/.test(lines[target] ?? '')) target += 1;
    const [, rule = '', reason = ''] = match;
    found.push({ file, line: line + 1, column: before.length + 1, rule, reason, target: target + 1 });
  }
  return found;
}

interface Comment {
  readonly offset: number;
  readonly source: string;
}

/** Comments are in many members of tokens, texts with the same characters are not. */
function* commentsIn(token: unknown): Generator<Comment, void> {
  const open = [token];
  for (let one = open.shift(); open.length > 0 || one !== undefined; one = open.shift()) {
    if (typeof one !== 'object' || one === null) continue;
    const { type, offset, source } = one as { type?: unknown; offset?: unknown; source?: unknown };
    if (type === 'comment' && typeof offset === 'number' && typeof source === 'string')
      yield { offset, source };
    else open.push(...Object.values(one));
  }
}
