import type { GetAgentResponse } from '@gen/enforcement/v1/agent_service_pb.js';
import { JsonView } from '../code/json-view.js';
import { Disclosure } from '../ui/disclosure.js';
import { Fact } from '../ui/fact.js';
import { MinuteText } from '../ui/minute-text.js';
import { TimeText } from '../ui/time-text.js';
import { UserText } from '../ui/user-text.js';
import { Labels } from './labels.js';
import { utcTime } from './utc-time.js';

/** What is known of an agent from its registration, and when it was last at work. */
export function AgentFacts({ registered }: { readonly registered: GetAgentResponse }) {
  const { agent, labels, lastEvaluatedAt, lastDeniedAt, version } = registered;
  const metadata = agent?.agentMetadata;
  return (
    <section className="card agent-facts" aria-label="Registration">
      {agent?.agentDescription !== undefined && <p dir="auto">{agent.agentDescription}</p>}
      <dl className="facts">
        <Fact name="Last evaluated">
          <LastTime time={lastEvaluatedAt} />
        </Fact>
        <Fact name="Last denied">
          <LastTime time={lastDeniedAt} />
        </Fact>
        {agent?.agentVersion !== undefined && (
          <Fact name="Version">
            <UserText text={agent.agentVersion} />
          </Fact>
        )}
        {agent?.agentCreatedAt !== undefined && (
          <Fact name="Registered">
            <TimeText time={utcTime(agent.agentCreatedAt)} />
          </Fact>
        )}
        {agent?.agentUpdatedAt !== undefined && (
          <Fact name="Updated">
            <TimeText time={utcTime(agent.agentUpdatedAt)} />
          </Fact>
        )}
        <Fact name="Version of the registration">{String(version)}</Fact>
        {Object.keys(labels).length > 0 && (
          <Fact name="Labels">
            <Labels labels={labels} />
          </Fact>
        )}
      </dl>
      {metadata !== undefined && Object.keys(metadata).length > 0 && (
        <Disclosure summary={`Metadata (${Object.keys(metadata).length})`}>
          <JsonView text={JSON.stringify(metadata, null, 2)} label="Metadata of the agent" />
        </Disclosure>
      )}
    </section>
  );
}

/** A time to the minute, or that there was none. */
export function LastTime({ time }: { readonly time: string | undefined }) {
  if (time === undefined) {
    return (
      <span className="muted" title="Not since evaluations are counted">
        never
      </span>
    );
  }
  return <MinuteText time={utcTime(time) ?? time} />;
}
