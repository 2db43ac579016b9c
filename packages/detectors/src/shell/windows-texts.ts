import { UNKNOWN, type Word } from '../../../shell-reader/src/index.js';
import { quoted } from './assumed-text.js';
import type { Call } from './launched.js';
import type { TextScope } from './text-scope.js';

/** Shells of Windows, whose texts have a grammar of their own. */
export const WINDOWS_SHELLS: ReadonlySet<string> = new Set(['cmd', 'powershell', 'pwsh', 'powershell_ise']);

/** Most texts of these shells in one another. */
const MAX_NESTED = 4;
/** Words before the name of a program that run it. */
const PREFIX = /^(?:&|\.|call|start|start-process|saps|-filepath|\/b|\/wait|\/min|@echo|)$/i;
const EVALUATES = /^(?:iex|invoke-expression)$/i;
/** Words between two statements. */
const SEPARATES = /^(?:do|else)$/i;

/** The text that a call of such a shell runs, read as far as programs and their arguments go. */
export function checkWindowsShell(text: TextScope, { command, name, program, args }: Call): void {
  const { findings } = text;
  // Their grammar is outside of what is understood for certain.
  findings.outside(program);
  const code = name === 'cmd' ? codeOfCmd(args) : codeOfPowerShell(args);
  if (code === undefined) {
    if (command.pipeFrom >= 0) findings.forbidden('pipe_to_shell', command);
    return;
  }
  const commands = asShellText(code, name === 'cmd', 0);
  const span = { start: program.start, end: (args.at(-1) ?? program).end };
  if (commands === undefined) findings.add('unreadable', span, text.rules.unreadableScore);
  else text.nested(commands, span);
}

/** What follows `/c`, `/k` or `/r`, also in the same word. */
function codeOfCmd(words: readonly Word[]): string | undefined {
  const at = words.findIndex(({ value }) => /^\/[ckr]/i.test(value));
  if (at < 0) return undefined;
  const [first = '', ...others] = words.slice(at).map(({ value }) => value);
  return [first.slice(2), ...others].join(' ');
}

/** Options of PowerShell that take a value; they may be shortened. */
const WITH_VALUE = /^[-/](?:ex\w*|ep|v\w*|con\w*|w\w*|o\w*|in\w*|ps\w*|settings\w*|cus\w*)$/i;

/** What follows `-Command`, the decoded value of `-EncodedCommand`, or the first word that is no option. */
function codeOfPowerShell(words: readonly Word[]): string | undefined {
  const values = words.map(({ value }) => value);
  for (let at = 0; at < values.length; at += 1) {
    const option = values[at] as string;
    if (/^[-/](?:e|ec|en\w*)$/i.test(option)) {
      return Buffer.from(values[at + 1] ?? '', 'base64').toString('utf16le');
    }
    if (/^[-/](?:c|co|com\w*|cwa)$/i.test(option)) return values.slice(at + 1).join(' ');
    if (/^[-/]f\w*$/i.test(option)) return undefined;
    if (WITH_VALUE.test(option)) at += 1;
    else if (!/^[-/]/.test(option)) return values.slice(at).join(' ');
  }
  return undefined;
}

/** The programs and arguments of the text, as a text for the shells that are read here; undefined if it does not end. */
function asShellText(code: string, isCmd: boolean, depth: number): string | undefined {
  const lines: string[] = [];
  let words: string[] = [];
  const flush = (): boolean => {
    while (words[0] !== undefined && PREFIX.test(words[0])) words.shift();
    const [first = '', ...others] = words;
    words = [];
    if (first === '') return true;
    if (EVALUATES.test(first) && depth < MAX_NESTED) {
      const inner = asShellText(others.join(' '), isCmd, depth + 1);
      if (inner === undefined) return false;
      lines.push(inner);
    }
    lines.push([first, ...others].map(asWord).join(' '));
    return true;
  };
  const token = isCmd
    ? /\s+|[&|()\n]|(?:"[^"\n]*"|\^[\s\S]|[^\s&|()"^])+|["]/g
    : /\s+|[;|&(){}\n]|(?:"(?:[^"`]|`[\s\S])*"|'(?:[^']|'')*'|`[\s\S]|[^\s;|&(){}"'`])+|["'`]/g;
  for (const [found] of code.matchAll(token)) {
    if (found === '"' || found === "'" || found === '`') return undefined;
    const isEnd = found.trim() === '' ? found.includes('\n') : /^[;|&(){}]$/.test(found);
    if (isEnd || SEPARATES.test(found)) {
      if (!flush()) return undefined;
    } else if (found.trim() !== '') words.push(plain(found, isCmd));
  }
  return flush() ? lines.join('\n') : undefined;
}

/** The token without quotes and escapes; what is known only at run time is the unknown character. */
function plain(token: string, isCmd: boolean): string {
  if (isCmd) return token.replace(/%[^%\s]+%|!\w+!/g, UNKNOWN).replace(/\^([\s\S])|"/g, '$1');
  const isLiteral = token.startsWith("'");
  const known = isLiteral ? token : token.replace(/\$(?:\w+(?::\w+)?|\{[^}]*\}|\()/g, UNKNOWN);
  return known.replace(/`([\s\S])|["']/g, '$1');
}

const asWord = (value: string): string => value.split(UNKNOWN).map(quoted).join('"$_"');
