import type { JsonObject } from '@bufbuild/protobuf';
import { type Action, type Condition, Decision, type Scope, Stage } from '@gen/enforcement/v1/control_pb.js';
import { leafWords, type Words } from './leaf-words.js';

/** A node of a condition in words. */
export interface ConditionWords {
  readonly kind: 'and' | 'or' | 'not' | 'leaf';
  /** Its place in the condition, for example `and[0].not`; blank for the condition itself. */
  readonly place: string;
  /** What a leaf checks; empty for the others. */
  readonly words: readonly Words[];
  readonly children: readonly ConditionWords[];
  /** Path and evaluator of a leaf, by which events name it. */
  readonly path?: string;
  readonly evaluator?: string;
}

/** A condition in words. Undefined for a node of a form that this dashboard does not know. */
export function conditionWords(condition: Condition, place = ''): ConditionWords | undefined {
  const { and, or, not, selector, evaluator } = condition;
  const below = (step: string) => (place === '' ? step : `${place}.${step}`);
  const all = (conditions: readonly Condition[], stepOf: (index: number) => string): ConditionWords[] =>
    conditions
      .map((child, index) => conditionWords(child, below(stepOf(index))))
      .filter((words) => words !== undefined);
  const composite = { place, words: [] };
  if (and) return { ...composite, kind: 'and', children: all(and.conditions, (index) => `and[${index}]`) };
  if (or) return { ...composite, kind: 'or', children: all(or.conditions, (index) => `or[${index}]`) };
  if (not) return { ...composite, kind: 'not', children: all([not], () => 'not') };
  if (evaluator === undefined) return undefined;
  const path = selector?.path ?? '*';
  const name = evaluator.name ?? '';
  const config = (evaluator.config ?? {}) as JsonObject;
  const rest: Words[] = selector?.required === true ? [say('or is not there, which fails the check')] : [];
  const words = [...leafWords(path, name, config), ...rest];
  return { kind: 'leaf', place, words, children: [], path, evaluator: name };
}

const STAGE_SENTENCES: Readonly<Record<Stage, string>> = {
  [Stage.UNSPECIFIED]: '',
  [Stage.PRE]: 'before it runs',
  [Stage.POST]: 'after it has run',
};

const say = (text: string): Words => ({ text, isCode: false });
const quote = (text: string): Words => ({ text, isCode: true });

/** Which steps a scope selects, as a sentence. */
export function scopeWords(scope: Scope | undefined): readonly Words[] {
  const { stepTypes = [], stepNames = [], stepNameRegex = '', stages = [] } = scope ?? {};
  const when = stages.map((stage) => STAGE_SENTENCES[stage]).filter((text) => text !== '');
  const isEvery = stepTypes.length === 0 && stepNames.length === 0 && stepNameRegex === '';
  const isAlways = when.length !== 1;
  return [
    say(isEvery ? 'Checks every step' : 'Checks each step'),
    ...(stepTypes.length === 0 ? [] : [say('of type'), ...alternatives(stepTypes)]),
    ...(stepNames.length === 0 ? [] : [say('named'), ...alternatives(stepNames)]),
    ...(stepNameRegex === ''
      ? []
      : [say(`${stepNames.length === 0 ? '' : 'or '}with a name that matches regex`), quote(stepNameRegex)]),
    say(isAlways ? 'before it runs and after it has run' : (when[0] ?? '')),
  ];
}

function alternatives(texts: readonly string[]): Words[] {
  return texts.flatMap((text, index) => (index === 0 ? [quote(text)] : [say('or'), quote(text)]));
}

/** What a match does, as a sentence. Guidance of the control is shown apart. */
export function actionSentence(action: Action | undefined): string {
  switch (action?.decision) {
    case Decision.DENY:
      if (action.approval !== undefined) return 'A matching step must not run before people approve it.';
      return action.modify.length > 0
        ? 'A matching step may run only as it is changed here, if the agent can do that; otherwise it is denied.'
        : 'A matching step is denied: it must not run.';
    case Decision.STEER:
      return 'A matching step must not run as it is; the agent is told how to correct it.';
    case Decision.OBSERVE:
      return 'A match is recorded; the step may run.';
    default:
      return 'No action is defined.';
  }
}
