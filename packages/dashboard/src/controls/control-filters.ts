import type { MessageInitShape } from '@bufbuild/protobuf';
import { Execution, Stage } from '@gen/enforcement/v1/control_pb.js';
import type { ListControlsRequestSchema } from '@gen/enforcement/v1/control_service_pb.js';
import type { FilterField } from '../ui/list/filter-fields.js';

const ANY = ['', 'any'] as const;

/** All filters of controls. */
export const CONTROL_FILTERS: readonly FilterField[] = [
  { name: 'name', label: 'Name contains' },
  { name: 'tag', label: 'Tag' },
  { name: 'step_type', label: 'Step type' },
  { name: 'enabled', label: 'State', options: [ANY, ['true', 'on'], ['false', 'off']] },
  { name: 'stage', label: 'Stage', options: [ANY, ['pre', 'pre'], ['post', 'post']] },
  { name: 'execution', label: 'Runs in', options: [ANY, ['server', 'server'], ['sdk', 'client']] },
  { name: 'template', label: 'Made from', options: [ANY, ['true', 'a template'], ['false', 'no template']] },
];

/** The request for the filters of an address. */
export function controlFilter(
  parameters: URLSearchParams,
): MessageInitShape<typeof ListControlsRequestSchema> {
  const text = (name: string) => parameters.get(name)?.trim() ?? '';
  return {
    ...(text('name') === '' ? {} : { name: text('name') }),
    ...(text('tag') === '' ? {} : { tag: text('tag') }),
    ...(text('step_type') === '' ? {} : { stepType: text('step_type') }),
    ...(text('enabled') === '' ? {} : { enabled: text('enabled') === 'true' }),
    ...(text('template') === '' ? {} : { templateBacked: text('template') === 'true' }),
    stageFilter: { pre: Stage.PRE, post: Stage.POST }[text('stage')] ?? Stage.UNSPECIFIED,
    executionFilter:
      { server: Execution.SERVER, sdk: Execution.SDK }[text('execution')] ?? Execution.UNSPECIFIED,
  };
}
