import { useQuery } from '@connectrpc/connect-query';
import { AgentService, type GetAgentResponse } from '@gen/enforcement/v1/agent_service_pb.js';
import { HaltScope } from '@gen/enforcement/v1/halt_service_pb.js';
import { Link, useParams } from 'wouter';
import { RangeField, useRange } from '../activity/range-field.js';
import { HaltButton } from '../halts/halt-button.js';
import { useServer } from '../health/use-server.js';
import { useEvaluations } from '../outcomes/use-evaluations.js';
import { useIsLimited, useMay } from '../session/session-context.js';
import { ActionMenu } from '../ui/action-menu.js';
import { AddressTabs } from '../ui/page/address-tabs.js';
import { decodedPart } from '../ui/page/decoded-part.js';
import { Page } from '../ui/page/page.js';
import type { Tab } from '../ui/page/tabs.js';
import { QueryState } from '../ui/states.js';
import { UserText } from '../ui/user-text.js';
import { AgentActivity } from './agent-activity.js';
import { AgentControls } from './agent-controls.js';
import { AgentFacts } from './agent-facts.js';
import { AgentOutcomes } from './agent-outcomes.js';
import { AgentPolicies } from './agent-policies.js';
import { AgentEvaluators, AgentSteps } from './agent-registration.js';
import { AgentTargets } from './agent-targets.js';
import { AgentTrouble } from './agent-trouble.js';
import { Coverage } from './coverage.js';
import { DeleteAgent } from './delete-agent.js';
import { LatestMatches } from './latest-matches.js';
import { MismatchSummary, StepSchemaSetting } from './step-schemas.js';
import { useWatchedControls } from './use-watched-controls.js';

/** One agent: what it is and what checks it, beside what became of its steps. */
export default function AgentPage() {
  const { name = '' } = useParams<{ name: string }>();
  const agentName = decodedPart(name);
  const mayChange = useMay('agents.write');
  const isLimited = useIsLimited();
  const seesEvents = useMay('events.read');
  const mayTry = useMay('explain');
  const mayReadApprovals = useMay('approvals.read');
  const query = useQuery(AgentService.method.getAgent, { agentName });
  const events = `/events?agent=${encodeURIComponent(agentName)}`;
  return (
    <Page
      title={agentName}
      heading={<UserText text={agentName} />}
      actions={
        <span className="links">
          {seesEvents && <RangeField />}
          {seesEvents && <Link href={events}>Events</Link>}
          {mayReadApprovals && !isLimited && (
            <Link href={`/approvals?tab=history&agent=${encodeURIComponent(agentName)}`}>Approvals</Link>
          )}
          <HaltButton label="Halt…" scope={HaltScope.AGENT} agentName={agentName} />
          {mayTry && (
            <Link className="action" href={`/playground?agent=${encodeURIComponent(agentName)}`}>
              Try a step
            </Link>
          )}
          {mayChange && query.data !== undefined && (
            <ActionMenu label="More">
              <div className="dangerous">
                <DeleteAgent agentName={agentName} version={query.data.version} />
              </div>
            </ActionMenu>
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
  const [range] = useRange();
  const { info } = useServer();
  const seesEvents = useMay('events.read');
  const seesPolicies = useMay('policies.read');
  const isCounted = seesEvents && info?.state?.eventsEnabled !== false;
  const evaluations = useEvaluations({ range, agentName, enabled: isCounted });
  const watched = useWatchedControls(agentName);
  const { steps, evaluators } = registered;
  const named = steps.map(({ type = '', name = '' }) => ({ type, name }));
  const tabs: readonly Tab[] = [
    { id: 'controls', name: 'Controls', content: <AgentControls agentName={agentName} watched={watched} /> },
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
    ...(seesPolicies
      ? [{ id: 'policies', name: 'Policies', content: <AgentPolicies agentName={agentName} /> }]
      : []),
    { id: 'targets', name: 'Targets', content: <AgentTargets agentName={agentName} watched={watched} /> },
    {
      id: 'evaluators',
      name: `Evaluators (${evaluators.length})`,
      content: <AgentEvaluators registered={registered} />,
    },
    ...(seesEvents
      ? [{ id: 'activity', name: 'Activity', content: <AgentActivity agentName={agentName} /> }]
      : []),
  ];
  return (
    <>
      <AgentTrouble agentName={agentName} range={range} counts={evaluations.data?.counts} />
      <div className="workplace">
        <div>
          <AgentFacts registered={registered} />
          <div>
            <AddressTabs label="Agent" tabs={tabs} />
          </div>
        </div>
        <aside>
          {isCounted && <AgentOutcomes agentName={agentName} range={range} query={evaluations} />}
          <Coverage steps={named} controls={watched.controls} />
          {isCounted && <LatestMatches agentName={agentName} />}
          <MismatchSummary agentName={agentName} registered={registered} />
        </aside>
      </div>
    </>
  );
}
