import type { MessageInitShape } from '@bufbuild/protobuf';
import { Decision, Execution, Stage } from '@gen/enforcement/v1/control_pb.js';
import type { ListControlsRequestSchema } from '@gen/enforcement/v1/control_service_pb.js';
import type { FilterField } from '../ui/list/filter-fields.js';

const ANY = ['', 'any'] as const;
const DECISIONS: Readonly<Record<string, Decision>> = {
  deny: Decision.DENY,
  steer: Decision.STEER,
  observe: Decision.OBSERVE,
};

/** All filters of controls. */
export const CONTROL_FILTERS: readonly FilterField[] = [
  { name: 'name', label: 'Name contains' },
  {
    name: 'decision',
    label: 'Decision',
    options: [ANY, ['deny', 'deny'], ['steer', 'steer'], ['observe', 'observe']],
  },
  { name: 'enabled', label: 'State', options: [ANY, ['true', 'on'], ['false', 'off']] },
  { name: 'agent', label: 'Agent' },
  { name: 'step', label: 'Step' },
  { name: 'tag', label: 'Tag' },
  { name: 'used', label: 'Used', options: [ANY, ['true', 'by agents'], ['false', 'by no agent']] },
  { name: 'step_type', label: 'Step type' },
  { name: 'stage', label: 'Stage', options: [ANY, ['pre', 'pre'], ['post', 'post']] },
  { name: 'execution', label: 'Runs in', options: [ANY, ['server', 'server'], ['sdk', 'client']] },
  { name: 'template', label: 'Made from', options: [ANY, ['true', 'a template'], ['false', 'no template']] },
];

/** The filters of an address, without its other parameters. */
export function filtersOf(parameters: URLSearchParams): URLSearchParams {
  const names = new Set(CONTROL_FILTERS.map(({ name }) => name));
  return new URLSearchParams([...parameters].filter(([name, value]) => names.has(name) && value !== ''));
}

/** The request for the filters of an address. */
export function controlFilter(
  parameters: URLSearchParams,
): MessageInitShape<typeof ListControlsRequestSchema> {
  const text = (name: string) => parameters.get(name)?.trim() ?? '';
  const decision = DECISIONS[text('decision')];
  return {
    ...(text('name') === '' ? {} : { name: text('name') }),
    ...(text('tag') === '' ? {} : { tag: text('tag') }),
    ...(text('step_type') === '' ? {} : { stepType: text('step_type') }),
    ...(text('step') === '' ? {} : { stepName: text('step') }),
    ...(text('agent') === '' ? {} : { agentName: text('agent') }),
    ...(text('enabled') === '' ? {} : { enabled: text('enabled') === 'true' }),
    ...(text('used') === '' ? {} : { hasAgents: text('used') === 'true' }),
    ...(text('template') === '' ? {} : { templateBacked: text('template') === 'true' }),
    ...(decision === undefined ? {} : { decisions: [decision] }),
    stageFilter: { pre: Stage.PRE, post: Stage.POST }[text('stage')] ?? Stage.UNSPECIFIED,
    executionFilter:
      { server: Execution.SERVER, sdk: Execution.SDK }[text('execution')] ?? Execution.UNSPECIFIED,
  };
}
