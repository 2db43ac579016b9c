import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import type { Approval } from '@gen/enforcement/v1/approval_service_pb.js';
import { Link } from 'wouter';
import { agentAddress } from '../references/agent-address.js';
import { ControlName } from '../references/columns.js';
import { Fact } from '../ui/fact.js';
import { NameLink } from '../ui/name-link.js';
import { TimeText } from '../ui/time-text.js';
import { UserText } from '../ui/user-text.js';
import { visibleText } from '../ui/visible-text.js';
import { stepText } from './approval-text.js';
import { StateBadge } from './state-badge.js';

/** State, agent, step, times, and what approving allows. */
export function ApprovalFacts({ approval }: { readonly approval: Approval }) {
  const { agentName, sessionId, controls, askedBy, allows, uses, endReason, state } = approval;
  return (
    <dl className="facts">
      <Fact name="State">
        <StateBadge state={state} />
        {endReason !== undefined && <> {visibleText(endReason)}</>}
      </Fact>
      <Fact name="Agent">
        <NameLink href={agentAddress(agentName)} name={agentName} />
      </Fact>
      <Fact name="Step">
        <UserText text={stepText(approval)} />
      </Fact>
      {sessionId !== undefined && (
        <Fact name="Session">
          <Link href={`/approvals?tab=history&session=${encodeURIComponent(sessionId)}`}>
            <UserText text={visibleText(sessionId)} />
          </Link>
        </Fact>
      )}
      <Fact name={controls.length === 1 ? 'Control' : 'Controls'}>
        {controls.map(({ controlId, controlName, version }) => (
          <div key={controlId}>
            <ControlName id={controlId} name={controlName} /> <span className="muted">version {version}</span>
          </div>
        ))}
      </Fact>
      <Fact name="If it is approved">{allows}</Fact>
      <Fact name="Asked">
        <At time={approval.askedAt} /> by <UserText text={visibleText(askedBy)} />
      </Fact>
      {approval.endedAt === undefined && (
        <Fact name="Expires">
          <At time={approval.expiresAt} />
        </Fact>
      )}
      {approval.decidedAt !== undefined && (
        <Fact name="Decided">
          <At time={approval.decidedAt} />
        </Fact>
      )}
      {approval.usedAt !== undefined && (
        <Fact name={uses === 1 ? 'Used' : `Used ${uses} times, last`}>
          <At time={approval.usedAt} />
        </Fact>
      )}
    </dl>
  );
}

/** How long ago something was, or in how much time it will be. */
export function At({ time }: { readonly time: Timestamp | undefined }) {
  return <TimeText time={time === undefined ? undefined : timestampDate(time).toISOString()} />;
}
