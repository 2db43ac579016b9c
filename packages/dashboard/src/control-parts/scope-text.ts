import { type Scope, Stage } from '@gen/enforcement/v1/control_pb.js';

const STAGE_WORDS: Readonly<Record<Stage, string>> = {
  [Stage.UNSPECIFIED]: '',
  [Stage.PRE]: 'pre',
  [Stage.POST]: 'post',
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
