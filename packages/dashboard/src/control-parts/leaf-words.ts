import type { JsonObject, JsonValue } from '@bufbuild/protobuf';

/** A piece of a sentence: words of the dashboard, or a text of the definition. */
export interface Words {
  readonly text: string;
  /** Whether it is a part of the definition, shown as code. */
  readonly isCode: boolean;
}

const say = (text: string): Words => ({ text, isCode: false });
const quote = (text: string): Words => ({ text, isCode: true });

/** Verbs of the evaluator `list`, by its `match_mode`. */
const LIST_VERBS: Readonly<Record<string, readonly [positive: string, negative: string]>> = {
  exact: ['is', 'is not'],
  contains: ['contains', 'does not contain'],
  starts_with: ['starts with', 'does not start with'],
  ends_with: ['ends with', 'does not end with'],
};
/** What evaluators other than `regex` and `list` do. */
const VERBS: Readonly<Record<string, string>> = {
  json: 'violates the rules for JSON:',
  sql: 'violates the rules for SQL:',
};
/** What detectors find. */
const FINDS: Readonly<Record<string, string>> = {
  secrets: 'contains secrets',
  pii: 'contains personal data',
  injection: 'contains text like a prompt injection',
  url: 'contains an address that violates the rules:',
  shell: 'runs what the rules for shells forbid:',
};
const MAX_VALUES = 20;

/** What a leaf of a condition checks, as pieces of a sentence. */
export function leafWords(path: string | undefined, evaluator: string, config: JsonObject): readonly Words[] {
  const subject = path === undefined || path === '*' ? say('the whole step') : quote(path);
  if (evaluator === 'regex') return [subject, ...regexWords(config)];
  if (evaluator === 'list') return [subject, ...listWords(config)];
  if (evaluator === 'cel') return celWords(subject, path, config);
  const finds = Object.hasOwn(FINDS, evaluator) ? FINDS[evaluator] : undefined;
  if (finds !== undefined) return [subject, say(finds), ...detectorWords(finds, config)];
  const verb = VERBS[evaluator];
  const start = verb === undefined ? [say('is matched by'), quote(evaluator)] : [say(verb)];
  return [subject, ...start, ...(verb === undefined ? withMembers(config) : membersWords(config))];
}

function regexWords({ pattern, flags: given, normalize, ...others }: JsonObject): Words[] {
  const flags = Array.isArray(given) ? given : [];
  const ignoresCase = flags.some((flag) => /^i(?:gnorecase)?$/i.test(String(flag)));
  return [
    say('matches regex'),
    quote(String(pattern ?? '')),
    ...(ignoresCase ? [say('in upper or lower case')] : []),
    ...normalizeWords(normalize),
    ...withMembers(others),
  ];
}

function listWords(config: JsonObject): Words[] {
  const { values: given, logic, match_on, match_mode, case_sensitive, normalize, ...others } = config;
  const [positive, negative] = LIST_VERBS[String(match_mode ?? 'exact')] ?? ['matches', 'does not match'];
  const values = Array.isArray(given) ? given : [];
  const shown = values.slice(0, MAX_VALUES);
  return [
    ...(logic === 'all' ? [say('with every item')] : []),
    say(match_on === 'no_match' ? negative : positive),
    ...(values.length === 1 ? [] : [say('any of')]),
    ...(values.length === 0 ? [say('no values')] : shown.map((value) => quote(valueText(value)))),
    ...(values.length > shown.length ? [say(`and ${values.length - shown.length} more`)] : []),
    ...(case_sensitive === true ? [say('in exactly this case')] : []),
    ...normalizeWords(normalize),
    ...withMembers(others),
  ];
}

/** An expression reads the step itself; the selected data are its variable `value`. */
function celWords(subject: Words, path: string | undefined, config: JsonObject): Words[] {
  const { expression, on_missing, ...others } = config;
  const isWhole = path === undefined || path === '*';
  return [
    say('the expression'),
    quote(String(expression ?? '')),
    say('is true'),
    ...(isWhole ? [] : [say('with value ='), subject]),
    ...(on_missing === 'match' ? [say('or reads a member that is missing')] : []),
    ...(on_missing === 'no_match' ? [say('and every member that it reads is there')] : []),
    ...withMembers(others),
  ];
}

function detectorWords(finds: string, config: JsonObject): Words[] {
  return finds.endsWith(':') ? membersWords(config) : withMembers(config);
}

function normalizeWords(normalize: JsonValue | undefined): Words[] {
  return normalize === 'nfkc' ? [say('after Unicode normalization')] : [];
}

/** The options that have no words of their own. */
function withMembers(config: JsonObject): Words[] {
  const words = membersWords(config);
  return words.length === 0 ? [] : [say('with'), ...words];
}

function membersWords(config: JsonObject): Words[] {
  return Object.entries(config)
    .filter(([, value]) => value !== null)
    .flatMap(memberWords);
}

function memberWords([name, value]: [string, JsonValue]): Words[] {
  return [say(name.replaceAll('_', ' ')), quote(valueText(value))];
}

function valueText(value: JsonValue): string {
  if (typeof value === 'string') return value === '' ? '""' : value;
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value.join(', ');
  return JSON.stringify(value);
}
