import { type JsonValue, toJson } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import type { ApprovalRule, StepChange } from '@gen/enforcement/v1/control_pb.js';
import { isJsonObject } from '../code/json-members.js';
import { spanText } from '../ui/span-text.js';
import { visibleText } from '../ui/visible-text.js';
import type { Words } from './leaf-words.js';

const say = (text: string): Words => ({ text, isCode: false });
const quote = (text: string): Words => ({ text: visibleText(text), isCode: true });
const EXPIRES_SECONDS = 3_600;

/** What a control asks before a step may run, as sentences. */
export function approvalWords(rule: ApprovalRule): readonly (readonly Words[])[] {
  const { approvers, quorum = 1, expiresSeconds = EXPIRES_SECONDS, question, separate = true } = rule;
  return [
    [say('It is asked:'), question === undefined ? say('whether the step may run') : quote(question)],
    [
      say(quorum === 1 ? 'One of these must approve:' : `${quorum} different people of these must approve:`),
      ...listed(approvers, 'or'),
    ],
    ...(separate
      ? [[say('One of them must be neither the caller that asks nor the author of the control.')]]
      : []),
    boundWords(rule),
    [say(`It may be used ${reuseText(rule)}, and expires after ${spanText(expiresSeconds)}.`)],
  ];
}

/** How a control changes a step, as a sentence. */
export function changeWords({ path = '', replace, with: text = '', remove }: StepChange): readonly Words[] {
  if (remove === true) return [say('Removes'), quote(path)];
  const what = replace === 'matches' ? [say('Replaces what the checks find in')] : [say('Replaces')];
  return [...what, quote(path), say('with'), quote(text)];
}

function boundWords({ bind }: ApprovalRule): readonly Words[] {
  const value = jsonOf(bind);
  if (!Array.isArray(value)) return [say('An approval is for exactly this step.')];
  return [say('An approval is for steps with the same'), ...listed(value.map(String), 'and')];
}

function reuseText({ reuse }: ApprovalRule): string {
  const value = jsonOf(reuse);
  if (value === 'session') return 'any number of times in its session';
  const seconds = isJsonObject(value) ? Number(value.seconds) : Number.NaN;
  return Number.isNaN(seconds) ? 'once' : `any number of times within ${spanText(seconds)} of the approval`;
}

function jsonOf(value: ApprovalRule['bind']): JsonValue | undefined {
  return value === undefined ? undefined : toJson(ValueSchema, value);
}

function listed(texts: readonly string[], joint: string): readonly Words[] {
  return texts.flatMap((text, at) => (at === 0 ? [quote(text)] : [say(joint), quote(text)]));
}
