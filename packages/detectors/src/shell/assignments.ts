import type { Assignment } from '../../../shell-reader/src/index.js';
import type { Span } from './findings.js';
import { MAY_RUN, RUNS_LATER, type TextScope } from './text-scope.js';

/** Variables whose values are commands, and of which shells and programs run what they name. */
const COMMANDS =
  /^(?:PROMPT_COMMAND|.*(?:PAGER|EDITOR|_RSH|_SSH|_COMMAND|ASKPASS|BROWSER|SHELL)|VISUAL|PS[0-4]|LESS(?:OPEN|CLOSE)|BASH_FUNC_.*|GIT_EXTERNAL_DIFF|GIT_PROXY_COMMAND|MAKE|CC|CXX)$/;

/** Variables that shells and programs read commands, paths of programs, options or files with settings from. */
const RESERVED = new RegExp(
  [
    /^(?:IFS|ENV|SHELL|PS[0-9]|LD|CC|CXX|CPP|AR|AS|MAKE|HOME|VISUAL|TERM|TERMCAP|TERMINFO.*|FPATH|fpath|path|cdpath)$/,
    /^(?:BASH|LD_|DYLD_|GIT_|PROMPT|HIST|histchars|auto_resume|COMP|READLINE|MAIL|LESS|PERL|PYTHON|RUBY|NODE|JAVA|_JAVA)/,
    /^(?:npm_config|NPM_CONFIG|PIP_|CARGO_|RUSTC|GO(?:FLAGS|ENV|ROOT|PATH)|DOTNET|LUA|PHP|SSL|OPENSSL|GCONV|LOC|NLS)/,
    /^(?:RANDOM|SECONDS|SRANDOM|EPOCH.*|LINENO|OPT.*|EUID|UID|PPID|DIRSTACK|FUNC.*|GROUPS|SHLVL|MAPFILE|REPLY|COPROC)$/,
    /^(?:EXECIGNORE|FIGNORE|GLOBIGNORE|INPUTRC|TIMEFORMAT|POSIXLY_CORRECT|CHILD_MAX|TMOUT|COLUMNS|LINES|_|CURL_HOME|XDG_.*)$/,
    /^(?:prompt|PROMPT\d?|RPROMPT|RPS\d|psvar|aliases|functions|commands|builtins|options|.*_functions)$/,
    /(?:PATH|PAGER|EDITOR|COMMAND|CMD|SHELL|OPTS?|OPTIONS|FLAGS|ASKPASS|PRELOAD|BROWSER|RC|STARTUP|CONFIG|CONF|RSH|SSH|EXEC)$/,
    /(?:WRAPPER|LAUNCHER|PROGRAM|PLUGINS?|HOOKS?|INIT|LIBRARY|MODULES?|SCRIPT|SUDO.*|RUNNER|DIFF)$/,
  ]
    .map(({ source }) => source)
    .join('|'),
);

/** Whether a value of the variable may make something run, or change what runs. */
export const isReservedVariable = (name: string): boolean => RESERVED.test(name) || COMMANDS.test(name);

/** The name of the variable that a word assigns, as an argument of `env` or `export`. */
export const assignedName = (value: string): string | undefined =>
  /^([A-Za-z_][A-Za-z0-9_]*)(?:%%)?\+?=/.exec(value)?.[1];

/** A variable that is set before, or instead of, a program. */
export function checkAssignment({ name, start, end, word, valueAt }: Assignment, text: TextScope): void {
  if (isReservedVariable(name)) text.findings.outside({ start, end });
  checkValue(name, word.value.slice(valueAt), { start, end }, text);
}

/** The value of a variable: a command, for some; in others, what would run if it were evaluated. */
export function checkValue(name: string, value: string, span: Span, text: TextScope): void {
  if (COMMANDS.test(name) && value !== '') {
    // A function, in the way in which bash passes them on.
    text.guess(value.startsWith('() ') ? `f${value}` : value, span, RUNS_LATER);
  } else if (/\$\(|`/.test(value)) text.guess(`: "${value.replace(/["\\]/g, '')}"`, span, MAY_RUN);
}
