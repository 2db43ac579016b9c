import type { MessageInitShape } from '@bufbuild/protobuf';
import { Execution, Stage } from '@gen/enforcement/v1/control_pb.js';
import type { ListControlsRequestSchema } from '@gen/enforcement/v1/control_service_pb.js';
import { SelectField, TextField } from '../ui/fields/fields.js';

const ANY = ['', 'any'] as const;
const STATES = [ANY, ['true', 'on'], ['false', 'off']] as const;
const STAGES = [ANY, ['pre', 'pre'], ['post', 'post']] as const;
const EXECUTIONS = [ANY, ['server', 'server'], ['sdk', 'client']] as const;
const ORIGINS = [ANY, ['true', 'a template'], ['false', 'no template']] as const;

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

interface ControlFiltersProps {
  readonly parameters: URLSearchParams;
  readonly onChange: (name: string, value: string) => void;
}

export function ControlFilters({ parameters, onChange }: ControlFiltersProps) {
  const field = (name: string) => ({
    value: parameters.get(name) ?? '',
    onChange: (value: string) => onChange(name, value),
  });
  return (
    <search className="filters">
      <TextField label="Name contains" type="search" {...field('name')} />
      <TextField label="Tag" type="search" {...field('tag')} />
      <TextField label="Step type" type="search" {...field('step_type')} />
      <SelectField label="State" options={STATES} {...field('enabled')} />
      <SelectField label="Stage" options={STAGES} {...field('stage')} />
      <SelectField label="Runs in" options={EXECUTIONS} {...field('execution')} />
      <SelectField label="Made from" options={ORIGINS} {...field('template')} />
    </search>
  );
}
