import { useQuery } from '@connectrpc/connect-query';
import { type AgentControl, AgentService } from '@gen/enforcement/v1/agent_service_pb.js';
import { TargetFields } from '../bindings/target-fields.js';
import { DecisionBadge } from '../control-parts/decision-badge.js';
import { scopeText } from '../control-parts/scope-text.js';
import { signOfDecision } from '../control-parts/sign.js';
import { CONTROL_COLUMN } from '../references/columns.js';
import { useDebounced } from '../ui/browser/use-debounced.js';
import { numberOf } from '../ui/numbers.js';
import { useAddressFilter } from '../ui/page/use-address-filter.js';
import { Empty, QueryState } from '../ui/states.js';
import { Table } from '../ui/table/table.js';
import { UserText } from '../ui/user-text.js';
import type { WatchedControls } from './use-watched-controls.js';

const REFRESH_MS = 10_000;

interface AgentTargetsProps {
  readonly agentName: string;
  /** The controls of the agent without a target. */
  readonly watched: WatchedControls;
}

/** What checks the agent while it works on a target: its own controls, and those that are bound to the target. */
export function AgentTargets({ agentName, watched }: AgentTargetsProps) {
  const { get, set } = useAddressFilter();
  const target = { type: get('target_type'), id: get('target_id') };
  const asked = useDebounced(JSON.stringify(target));
  const { type, id } = JSON.parse(asked) as typeof target;
  const isWhole = type !== '' && id !== '';
  const query = useQuery(
    AgentService.method.listAgentControls,
    { agentName, targetType: type, targetId: id, enabledState: 'all' },
    { enabled: isWhole, refetchInterval: REFRESH_MS },
  );
  const own = new Set(watched.controls?.map((control) => control.id));
  return (
    <>
      <search className="filters">
        <TargetFields
          target={target}
          onChange={(next) => {
            set('target_type', next.type);
            set('target_id', next.id);
          }}
        />
      </search>
      {!isWhole && (
        <p className="muted">
          A target is what an agent works on. Type and id of one show which controls check the agent while it
          works on it: its own, and those that are bound to the target.
        </p>
      )}
      {isWhole && watched.controls !== undefined && (
        <QueryState query={query} what="the controls">
          {({ controls }) => <WithTarget controls={controls} own={own} />}
        </QueryState>
      )}
    </>
  );
}

interface WithTargetProps {
  readonly controls: readonly AgentControl[];
  readonly own: ReadonlySet<number>;
}

function WithTarget({ controls, own }: WithTargetProps) {
  const added = controls.filter(({ id }) => !own.has(id)).length;
  return (
    <>
      <p role="status">
        The target adds {added === 0 ? 'no control' : numberOf(added, 'control')} to the{' '}
        {numberOf(own.size, 'control')} of the agent.
      </p>
      <Table
        label="Controls with the target"
        rows={[...controls].sort((one, other) => Number(own.has(one.id)) - Number(own.has(other.id)))}
        keyOf={({ id }) => id}
        empty={<Empty title="No control checks the agent on this target" />}
        columns={[
          CONTROL_COLUMN,
          { head: 'By', cell: ({ id }) => (own.has(id) ? 'the agent' : <strong>the target</strong>) },
          {
            head: 'Decision',
            cell: ({ control }) => (
              <>
                <DecisionBadge sign={signOfDecision(control?.action?.decision)} />
                {control?.enabled === false && <span className="muted"> off</span>}
              </>
            ),
          },
          { head: 'Scope', cell: ({ control }) => <UserText text={scopeText(control?.scope)} /> },
        ]}
      />
    </>
  );
}
