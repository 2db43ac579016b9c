import { useQuery } from '@connectrpc/connect-query';
import { AgentService, type GetAgentResponse } from '@gen/enforcement/v1/agent_service_pb.js';
import { Link, useParams } from 'wouter';
import { useIsAdmin } from '../session/session-context.js';
import { AddressTabs } from '../ui/page/address-tabs.js';
import { decodedPart } from '../ui/page/decoded-part.js';
import { Page } from '../ui/page/page.js';
import type { Tab } from '../ui/page/tabs.js';
import { QueryState } from '../ui/states.js';
import { TimeText } from '../ui/time-text.js';
import { UserText } from '../ui/user-text.js';
import { AgentActivity } from './agent-activity.js';
import { AgentControls } from './agent-controls.js';
import { AgentPolicies } from './agent-policies.js';
import { AgentEvaluators, AgentSteps } from './agent-registration.js';
import { DeleteAgent } from './delete-agent.js';
import { StepSchemaSetting } from './step-schemas.js';
import { utcTime } from './utc-time.js';

/** One agent: its effective controls, steps, policies, evaluators and activity. */
export default function AgentPage() {
  const { name = '' } = useParams<{ name: string }>();
  const agentName = decodedPart(name);
  const isAdmin = useIsAdmin();
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
          {isAdmin && query.data !== undefined && (
            <DeleteAgent agentName={agentName} version={query.data.version} />
          )}
        </span>
      }
    >
      <QueryState query={query} what="the agent">
        {(agent) => <AgentDetails key={agentName} agentName={agentName} registered={agent} />}
      </QueryState>
    </Page>
  );
}

interface AgentDetailsProps {
  readonly agentName: string;
  readonly registered: GetAgentResponse;
}

function AgentDetails({ agentName, registered }: AgentDetailsProps) {
  const { agent, steps, evaluators } = registered;
  const tabs: readonly Tab[] = [
    { id: 'controls', name: 'Controls', content: <AgentControls agentName={agentName} /> },
    {
      id: 'steps',
      name: `Steps (${steps.length})`,
      content: (
        <>
          {steps.length > 0 && <StepSchemaSetting agentName={agentName} registered={registered} />}
          <AgentSteps registered={registered} />
        </>
      ),
    },
    { id: 'policies', name: 'Policies', content: <AgentPolicies agentName={agentName} /> },
    {
      id: 'evaluators',
      name: `Evaluators (${evaluators.length})`,
      content: <AgentEvaluators registered={registered} />,
    },
    { id: 'activity', name: 'Activity', content: <AgentActivity agentName={agentName} /> },
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
      <AddressTabs label="Agent" tabs={tabs} />
    </>
  );
}
