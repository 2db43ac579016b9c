/** Most strings in a code that are read as commands. */
const MAX_STRINGS = 20;
const MAX_CODE = 20_000;
const STRING = /"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'|`([^`]*)`/g;
const isGiven = (text: string | undefined): text is string => text !== undefined;
/** Commands of sed that run a text: `e text`, `s/…/text/e`. */
const SED_RUNS = /(?:^|[\s;{}\d/$!])e[ \t]+([^\n]+)|s([/|,:#@!_])[^\n]*?\2([^\n]*)\2[gpiIm\d]*e/;

/** An address of socat that runs a program, before its options. */
const SOCAT_RUNS = /^(?:exec|system|shell):([^,]+)/is;
/** Words of a list in Perl and Ruby, and texts that both run. */
const WORDS = /(?:\bq[wx]|%[wx])\s*[([{<|/!]([^)\]}>|/!]+)/g;

/** What code of some language calls to run a program. */
const RUNS =
  /\b(?:system|exec\w*|spawn\w*|popen\d?|subprocess|child_process|qx|getline|shell\w*|check_\w+|Process|silent)\b|[`!|]|%x/i;
const VIM_COMMAND = /^[:!\s]*(?:sil\w*!?\s+)?(?:r\w*\s*)?!(.+)$/s;

/** Texts in code of another language that may be commands: each string, and all of them in their order. */
export function commandsInCode(code: string, name: string): string[] {
  if (name === 'sed' || name === 'gsed')
    return SED_RUNS.exec(code.slice(0, MAX_CODE))?.slice(1).filter(isGiven) ?? [];
  if (name === 'socat') return SOCAT_RUNS.exec(code)?.slice(1) ?? [];
  if (!RUNS.test(code)) return [];
  const bang =
    VIM_COMMAND.exec(code)?.[1] ??
    /(?:^|\n|;)\s*(?:spawn|exec|shell|system|\\!|!|\.shell|\.system)\s+(.+)$/s.exec(code)?.[1];
  const strings = [...code.slice(0, MAX_CODE).matchAll(STRING)]
    .flatMap(([, double, single, back]) => double || single || back || [])
    .slice(0, MAX_STRINGS);
  strings.push(
    ...[...code.slice(0, MAX_CODE).matchAll(WORDS)].flatMap(([, words = '']) => words).slice(0, MAX_STRINGS),
  );
  const texts = bang === undefined ? [] : [bang];
  if (strings.length > 1) texts.push(strings.join(' '));
  return [...texts, ...strings.filter((value) => /\s/.test(value))];
}

const AWK_RUNS = /\bsystem\b|\bgetline\b|\||@|\bclose\b/;
/** Commands of sed that read and write nothing but its own text. */
const SED_ADDRESS = String.raw`(?:\d+(?:~\d+)?|\$|/(?:[^/\\\n]|\\.)*/[IM]*)`;
const SED_COMMAND = String.raw`(?:[pdqQDPNnGhHgx=lFz{}]\d*|s(?<mark>[/|,:#@!_])(?:(?!\k<mark>)[^\\\n]|\\.)*\k<mark>(?:(?!\k<mark>)[^\\]|\\[\s\S])*\k<mark>[gpiIm\d]*|y/(?:[^/\\\n]|\\.)*/(?:[^/\\\n]|\\.)*/|[aic][ \t]*\\?\n?[^\n]*(?=\n|$)|[bt][ \t]*\w*|:[ \t]*\w+)`;
const SED_STATEMENT = new RegExp(
  String.raw`(?:[ \t\n;]+|(?:${SED_ADDRESS}(?:[ \t]*,[ \t]*[+~]?${SED_ADDRESS})?[ \t]*!?[ \t]*)?${SED_COMMAND}[ \t]*(?:#[^\n]*)?(?=[;\n}]|$|(?<=\{)))`,
  'y',
);

/** Whether a program of sed or awk certainly runs no other: sed reads only the usual commands here. */
export function runsNothing(name: string, code: string): boolean {
  if (name === 'socat') return !SOCAT_RUNS.test(code);
  if (/awk$/.test(name)) return !AWK_RUNS.test(code);
  if (!/sed$/.test(name) || code.length > MAX_CODE) return false;
  SED_STATEMENT.lastIndex = 0;
  for (let at = 0; at < code.length; at = SED_STATEMENT.lastIndex) {
    SED_STATEMENT.lastIndex = at;
    if (!SED_STATEMENT.test(code) || SED_STATEMENT.lastIndex === at) return false;
  }
  return true;
}
