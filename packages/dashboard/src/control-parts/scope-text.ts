import { type Scope, Stage } from '@gen/enforcement/v1/control_pb.js';

const STAGE_WORDS: Readonly<Record<Stage, string>> = {
  [Stage.UNSPECIFIED]: '',
  [Stage.PRE]: 'pre',
  [Stage.POST]: 'post',
};
const WHEN_WORDS: Readonly<Record<Stage, string>> = {
  [Stage.UNSPECIFIED]: '',
  [Stage.PRE]: 'before',
  [Stage.POST]: 'after',
};

export function stageText(stage: Stage | undefined): string {
  return STAGE_WORDS[stage ?? Stage.UNSPECIFIED];
}

/** Which steps a scope selects, in a line. */
export function scopeText(scope: Scope | undefined): string {
  const parts: string[] = [];
  if (scope !== undefined) {
    const { stepTypes, stages, stepNames, stepNameRegex } = scope;
    if (stages.length > 0) parts.push(stages.map(stageText).join('/'));
    if (stepTypes.length > 0) parts.push(stepTypes.join(', '));
    if (stepNames.length > 0) parts.push(stepNames.join(', '));
    if (stepNameRegex !== undefined) parts.push(`/${stepNameRegex}/`);
  }
  return parts.length === 0 ? 'every step' : parts.join(' · ');
}

/** What an entry of a list says of the scope of its control. */
type ListedScope = Pick<Scope, 'stepTypes' | 'stages' | 'stepNames' | 'stepNameRegex'>;

/** Which steps a control checks, the names first, for example `send_mail · before`. */
export function stepsText({ stepTypes, stages, stepNames, stepNameRegex }: ListedScope): string {
  const names = [...stepNames, ...(stepNameRegex === undefined ? [] : [`/${stepNameRegex}/`])].join(', ');
  const types = stepTypes.length === 0 ? '' : `${stepTypes.join(', ')} steps`;
  // A name says more than its type.
  const which = names || types || 'every step';
  const when = stages.length === 1 ? stages.map((stage) => WHEN_WORDS[stage]) : [];
  return [which, ...when].join(' · ');
}
