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
const MAX_VALUES = 20;

/** What a leaf of a condition checks, as pieces of a sentence. */
export function leafWords(path: string | undefined, evaluator: string, config: JsonObject): readonly Words[] {
  const subject = path === undefined || path === '*' ? say('the whole step') : quote(path);
  if (evaluator === 'regex') return [subject, ...regexWords(config)];
  if (evaluator === 'list') return [subject, ...listWords(config)];
  const verb = VERBS[evaluator];
  const start = verb === undefined ? [say('is matched by'), quote(evaluator)] : [say(verb)];
  const members = Object.entries(config).filter(([, value]) => value !== null);
  if (members.length === 0) return [subject, ...start];
  return [subject, ...start, ...(verb === undefined ? [say('with')] : []), ...members.flatMap(memberWords)];
}

function regexWords(config: JsonObject): Words[] {
  const flags = Array.isArray(config.flags) ? config.flags : [];
  const ignoresCase = flags.some((flag) => /^i(?:gnorecase)?$/i.test(String(flag)));
  return [
    say('matches regex'),
    quote(String(config.pattern ?? '')),
    ...(ignoresCase ? [say('in upper or lower case')] : []),
    ...normalizeWords(config),
  ];
}

function listWords(config: JsonObject): Words[] {
  const [positive, negative] = LIST_VERBS[String(config.match_mode ?? 'exact')] ?? [
    'matches',
    'does not match',
  ];
  const values = Array.isArray(config.values) ? config.values : [];
  const shown = values.slice(0, MAX_VALUES);
  return [
    ...(config.logic === 'all' ? [say('with every item')] : []),
    say(config.match_on === 'no_match' ? negative : positive),
    ...(values.length === 1 ? [] : [say('any of')]),
    ...(values.length === 0 ? [say('no values')] : shown.map((value) => quote(valueText(value)))),
    ...(values.length > shown.length ? [say(`and ${values.length - shown.length} more`)] : []),
    ...(config.case_sensitive === true ? [say('in exactly this case')] : []),
    ...normalizeWords(config),
  ];
}

function normalizeWords(config: JsonObject): Words[] {
  return config.normalize === 'nfkc' ? [say('after Unicode normalization')] : [];
}

function memberWords([name, value]: [string, JsonValue]): Words[] {
  return [say(name.replaceAll('_', ' ')), quote(valueText(value))];
}

function valueText(value: JsonValue): string {
  if (typeof value === 'string') return value === '' ? '""' : value;
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value.join(', ');
  return JSON.stringify(value);
}
