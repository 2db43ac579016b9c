import { useQuery } from '@connectrpc/connect-query';
import { Link, useParams } from 'wouter';
import {
  AgentService,
  type GetAgentResponse,
} from '../../../../gen/proto/enforcement/v1/agent_service_pb.js';
import { Page } from '../shared/page.js';
import { Empty, QueryState } from '../shared/states.js';
import { Table } from '../shared/table.js';
import { type Tab, Tabs } from '../shared/tabs.js';
import { TimeText } from '../shared/time-text.js';
import { useAddressFilter } from '../shared/use-address-filter.js';
import { UserText } from '../shared/user-text.js';
import { AgentControls } from './agent-controls.js';
import { utcTime } from './utc-time.js';

/** One agent: its effective controls, steps and evaluators. */
export default function AgentPage() {
  const { name = '' } = useParams<{ name: string }>();
  const agentName = decodedPart(name);
  const query = useQuery(AgentService.method.getAgent, { agentName });
  const events = `/events?agent=${encodeURIComponent(agentName)}`;
  return (
    <Page
      title={agentName}
      heading={<UserText text={agentName} />}
      actions={
        <span className="links">
          <Link href={events}>Events</Link>
          <Link href={`/playground?agent=${encodeURIComponent(agentName)}`}>Try a step</Link>
        </span>
      }
    >
      <QueryState query={query} what="the agent">
        {(agent) => <AgentDetails agentName={agentName} registered={agent} />}
      </QueryState>
    </Page>
  );
}

/** The router decodes all but the characters with a meaning in paths. */
function decodedPart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

interface AgentDetailsProps {
  readonly agentName: string;
  readonly registered: GetAgentResponse;
}

function AgentDetails({ agentName, registered }: AgentDetailsProps) {
  const [filters, setFilter] = useAddressFilter();
  const { agent, steps, evaluators } = registered;
  const tabs: readonly Tab[] = [
    { id: 'controls', name: 'Controls', content: <AgentControls key={agentName} agentName={agentName} /> },
    { id: 'steps', name: `Steps (${steps.length})`, content: <Steps registered={registered} /> },
    {
      id: 'evaluators',
      name: `Evaluators (${evaluators.length})`,
      content: <Evaluators registered={registered} />,
    },
  ];
  return (
    <>
      {agent?.agentDescription !== undefined && <p dir="auto">{agent.agentDescription}</p>}
      <p className="muted">
        {agent?.agentVersion !== undefined && (
          <>
            Version <UserText text={agent.agentVersion} />,{' '}
          </>
        )}
        {agent?.agentUpdatedAt !== undefined && (
          <>
            updated <TimeText time={utcTime(agent.agentUpdatedAt)} />,{' '}
          </>
        )}
        version {String(registered.version)} of the registration
      </p>
      <Tabs
        label="Agent"
        tabs={tabs}
        selected={filters.get('tab') ?? 'controls'}
        onSelect={(id) => setFilter('tab', id === 'controls' ? '' : id)}
      />
    </>
  );
}

function Steps({ registered: { steps } }: { readonly registered: GetAgentResponse }) {
  if (steps.length === 0) return <Empty title="The agent has registered no steps" />;
  return (
    <Table label="Steps" columns={['Type', 'Name', 'Description']}>
      {steps.map((step) => (
        <tr key={`${step.type}\0${step.name}`}>
          <td>
            <UserText text={step.type ?? ''} />
          </td>
          <td>
            <UserText text={step.name ?? ''} />
          </td>
          <td dir="auto">{step.description}</td>
        </tr>
      ))}
    </Table>
  );
}

function Evaluators({ registered: { evaluators } }: { readonly registered: GetAgentResponse }) {
  if (evaluators.length === 0) return <Empty title="The agent has registered no evaluators of its own" />;
  return (
    <Table label="Evaluators" columns={['Name', 'Description']}>
      {evaluators.map((evaluator) => (
        <tr key={evaluator.name}>
          <td>
            <UserText text={evaluator.name ?? ''} />
          </td>
          <td dir="auto">{evaluator.description}</td>
        </tr>
      ))}
    </Table>
  );
}
