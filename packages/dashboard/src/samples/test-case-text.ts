import { Stage } from '@gen/enforcement/v1/control_pb.js';
import { Outcome } from '@gen/enforcement/v1/evaluation_service_pb.js';
import type { GetSampleResponse } from '@gen/enforcement/v1/sample_service_pb.js';

/** What is expected of the step: what was decided, or that it is allowed. */
export type Wanted = 'same' | 'allow';

interface SampledCase {
  readonly sample: GetSampleResponse;
  readonly agentName: string;
  /** Names of the controls that matched. */
  readonly matched: readonly string[];
  readonly wanted: Wanted;
}

const OUTCOMES: Readonly<Record<Outcome, string>> = {
  [Outcome.UNSPECIFIED]: 'allow',
  [Outcome.ALLOW]: 'allow',
  [Outcome.DENY]: 'deny',
  [Outcome.STEER]: 'steer',
  [Outcome.ASK]: 'ask',
  [Outcome.MODIFY]: 'modify',
};

/** A suite with one case, as YAML. Texts and steps are JSON, which YAML contains: all digits of numbers stay. */
export function testCaseText({
  sample: { sample, stepJson },
  agentName,
  matched,
  wanted,
}: SampledCase): string {
  const step = `${sample?.stepType} ${sample?.stepName}`;
  const isAllowed = wanted === 'allow';
  const outcome = isAllowed ? 'allow' : OUTCOMES[sample?.outcome ?? Outcome.UNSPECIFIED];
  const name = `${isAllowed ? 'false positive: ' : ''}${step}, decision ${sample?.decisionId}`;
  const controls = isAllowed ? '[]' : `{ contains: ${JSON.stringify(matched)} }`;
  return [
    'kind: Suite',
    `agent: ${JSON.stringify(agentName)}`,
    'cases:',
    `  - name: ${JSON.stringify(name)}`,
    `    stage: ${sample?.stage === Stage.POST ? 'post' : 'pre'}`,
    `    step: ${withoutNulls(stepJson)}`,
    '    expect:',
    `      outcome: ${outcome}`,
    ...(matched.length === 0 ? [] : [`      controls: ${controls}`]),
    '',
  ].join('\n');
}

/** The text without the last members of the step if they are not there, which a case leaves out. */
function withoutNulls(stepJson: string): string {
  return stepJson.replace(/,"context":null}$/, '}').replace(/,"output":null}$/, '}');
}
