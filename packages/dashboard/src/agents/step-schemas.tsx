import {
  AgentService,
  type GetAgentResponse,
  type MismatchedStep,
  StepSchemas,
} from '@gen/enforcement/v1/agent_service_pb.js';
import { Link } from 'wouter';
import { useChange } from '../data/use-change.js';
import { agentAddress } from '../references/columns.js';
import { useMay } from '../session/session-context.js';
import { SelectField } from '../ui/fields/fields.js';
import { Problem } from '../ui/states.js';
import type { Columns } from '../ui/table/columns.js';
import { Table } from '../ui/table/table.js';
import { TimeText } from '../ui/time-text.js';
import { UserText } from '../ui/user-text.js';
import { utcTime } from './utc-time.js';

const EFFECTS: Readonly<Record<number, string>> = {
  [StepSchemas.OFF]: 'Steps are not compared with these schemas.',
  [StepSchemas.WARN]: 'Steps that differ from these schemas are reported, and decided by the controls alone.',
  [StepSchemas.ENFORCE]: 'Steps that differ from these schemas are denied.',
};

const OPTIONS = [
  [String(StepSchemas.DEFAULT), 'as the service is set'],
  [String(StepSchemas.OFF), 'off'],
  [String(StepSchemas.WARN), 'warn'],
  [String(StepSchemas.ENFORCE), 'enforce'],
] as const;

const MISMATCH_COLUMNS: Columns<MismatchedStep> = [
  { head: 'Step', cell: ({ name }) => <UserText text={name} /> },
  {
    head: 'Difference',
    className: 'prose',
    cell: ({ path, problem }) => <UserText text={`${path} ${problem}`} />,
  },
  { head: 'Times', cell: ({ count }) => String(count) },
  { head: 'Last', cell: ({ lastAt }) => <TimeText time={utcTime(lastAt)} /> },
];

interface StepSchemaSettingProps {
  readonly agentName: string;
  readonly registered: GetAgentResponse;
}

/** How steps of an agent are compared with their registered schemas, and those that differed. */
export function StepSchemaSetting({ agentName, registered }: StepSchemaSettingProps) {
  const mayChange = useMay('agents.write');
  const update = useChange(AgentService.method.updateAgent);
  const { stepSchemas, effectiveStepSchemas, mismatchedSteps } = registered;
  // A server of an earlier version does not compare.
  if (effectiveStepSchemas === StepSchemas.UNSPECIFIED) return null;
  const change = (value: string) => update.mutate({ agentName, stepSchemas: Number(value) });
  return (
    <>
      <p>{EFFECTS[effectiveStepSchemas]}</p>
      {mayChange && (
        <SelectField
          label="Comparison with schemas"
          value={String(stepSchemas)}
          options={OPTIONS}
          onChange={change}
        />
      )}
      <Problem error={update.error} />
      {update.data?.warnings.map(({ message }) => (
        <p key={message} role="status">
          {message}
        </p>
      ))}
      {mismatchedSteps.length > 0 && (
        <Table
          label="Steps that differed"
          columns={MISMATCH_COLUMNS}
          rows={mismatchedSteps}
          keyOf={({ type, name, part }) => `${type}\0${name}\0${part}`}
          rowClass={() => 'top-aligned'}
        />
      )}
    </>
  );
}

interface MismatchSummaryProps {
  readonly agentName: string;
  readonly registered: GetAgentResponse;
}

/** That steps differed from their schemas, and where it says which; nothing if none did. */
export function MismatchSummary({ agentName, registered: { mismatchedSteps } }: MismatchSummaryProps) {
  if (mismatchedSteps.length === 0) return null;
  const times = mismatchedSteps.reduce((sum, { count }) => sum + BigInt(count), 0n);
  return (
    <section className="card">
      <h2>Steps that differed from their schemas</h2>
      <p>
        {times.toLocaleString('en')} since the process started:{' '}
        <Link href={`${agentAddress(agentName)}?tab=steps`}>show which</Link>
      </p>
    </section>
  );
}
