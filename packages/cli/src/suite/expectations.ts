import { DECISIONS } from '../../../../src/kernel/core/types.js';
import { canonicalJson, type JsonValue, stringifyJson } from '../../../exact-json/src/index.js';
import type { JudgedControl, Judgement } from './judge.js';
import type { Expectation } from './suite-schema.js';

/** What of a verdict is not as it is expected, each as a sentence; empty if everything is. */
export function differences(expected: Expectation, judged: Judgement): string[] {
  const found: string[] = [];
  const differs = (member: string, wanted: string, actual: string): void =>
    void found.push(`${member}: expected ${wanted}, but it is ${actual}`);
  const { outcome, decision, controls, steering, reason_contains, errors = [], modified } = expected;
  if (outcome !== undefined && outcome !== judged.outcome) differs('outcome', outcome, judged.outcome);
  const strongest = decisionOf(judged);
  if (decision !== undefined && decision !== strongest) differs('decision', decision, strongest);
  const matched = judged.matches.map(({ name }) => name);
  if (Array.isArray(controls)) {
    if (!isSame(controls, matched)) differs('controls', listText(controls), listText(matched));
  } else if (controls !== undefined) {
    const missing = controls.contains.filter((name) => !matched.includes(name));
    if (missing.length > 0) differs('controls', `${listText(missing)} among them`, listText(matched));
  }
  if (steering !== undefined) {
    const messages = judged.matches.flatMap((one) => one.steering ?? []);
    const isThere =
      typeof steering === 'string'
        ? messages.includes(steering)
        : messages.some((message) => message.includes(steering.contains));
    const wanted =
      typeof steering === 'string' ? quoted(steering) : `a text with ${quoted(steering.contains)}`;
    if (!isThere)
      differs('steering', wanted, messages.length === 0 ? 'none' : messages.map(quoted).join(', '));
  }
  for (const part of typeof reason_contains === 'string' ? [reason_contains] : (reason_contains ?? [])) {
    if (judged.reason?.includes(part) !== true)
      differs(
        'reason',
        `a text with ${quoted(part)}`,
        judged.reason === null ? 'none' : quoted(judged.reason),
      );
  }
  const failed = judged.errors.map(({ name }) => name);
  if (!isSame(errors, failed)) {
    const why = judged.errors.map(({ name, message }) => `${name} (${message})`).join(', ');
    differs('errors', listText(errors), why === '' ? 'none' : why);
  }
  for (const [part, wanted] of Object.entries(modified ?? {}) as [
    keyof NonNullable<typeof modified>,
    JsonValue,
  ][]) {
    const actual = judged.modified?.[part];
    if (actual !== undefined && canonicalJson(actual) === canonicalJson(wanted)) continue;
    differs(
      `modified.${part}`,
      stringifyJson(wanted),
      actual === undefined ? 'not modified' : stringifyJson(actual),
    );
  }
  return found;
}

/** The strongest decision of the controls that match. */
export function decisionOf({ matches }: { readonly matches: readonly JudgedControl[] }): string {
  return DECISIONS.find((decision) => matches.some((one) => one.decision === decision)) ?? 'none';
}

function isSame(expected: readonly string[], actual: readonly string[]): boolean {
  return stringifyJson([...expected].sort()) === stringifyJson([...actual].sort());
}

const listText = (names: readonly string[]): string => (names.length === 0 ? 'none' : names.join(', '));
const quoted = (text: string): string => JSON.stringify(text);
