import {
  AgentService,
  type GetAgentResponse,
  type MismatchedStep,
  StepSchemas,
} from '@gen/enforcement/v1/agent_service_pb.js';
import { useChange } from '../data/use-change.js';
import { useIsAdmin } from '../session/session-context.js';
import { errorText } from '../ui/error-text.js';
import { SelectField } from '../ui/fields/fields.js';
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

interface StepSchemaSettingProps {
  readonly agentName: string;
  readonly registered: GetAgentResponse;
}

/** How steps of an agent are compared with their registered schemas, and those that differed. */
export function StepSchemaSetting({ agentName, registered }: StepSchemaSettingProps) {
  const isAdmin = useIsAdmin();
  const update = useChange(AgentService.method.updateAgent);
  const { stepSchemas, effectiveStepSchemas, mismatchedSteps } = registered;
  // A server of an earlier version does not compare.
  if (effectiveStepSchemas === StepSchemas.UNSPECIFIED) return null;
  const change = (value: string) => update.mutate({ agentName, stepSchemas: Number(value) });
  return (
    <>
      <p>{EFFECTS[effectiveStepSchemas]}</p>
      {isAdmin && (
        <SelectField
          label="Comparison with schemas"
          value={String(stepSchemas)}
          options={OPTIONS}
          onChange={change}
        />
      )}
      {update.error !== null && (
        <p className="problem" role="alert">
          {errorText(update.error).detail}
        </p>
      )}
      {update.data?.warnings.map(({ message }) => (
        <p key={message} role="status">
          {message}
        </p>
      ))}
      {mismatchedSteps.length > 0 && <MismatchedSteps steps={mismatchedSteps} />}
    </>
  );
}

function MismatchedSteps({ steps }: { readonly steps: readonly MismatchedStep[] }) {
  return (
    <Table label="Steps that differed" columns={['Step', 'Difference', 'Times', 'Last']}>
      {steps.map(({ type, name, part, path, problem, count, lastAt }) => (
        <tr key={`${type}\0${name}\0${part}`} className="top-aligned">
          <td>
            <UserText text={name} />
          </td>
          <td className="prose">
            <UserText text={`${path} ${problem}`} />
          </td>
          <td>{String(count)}</td>
          <td>
            <TimeText time={utcTime(lastAt)} />
          </td>
        </tr>
      ))}
    </Table>
  );
}
