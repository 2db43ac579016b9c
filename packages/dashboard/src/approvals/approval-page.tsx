import { timestampMs } from '@bufbuild/protobuf/wkt';
import { useQuery } from '@connectrpc/connect-query';
import {
  type Approval,
  ApprovalDecision,
  ApprovalService,
  type GetApprovalResponse,
} from '@gen/enforcement/v1/approval_service_pb.js';
import { useState } from 'react';
import { Link } from 'wouter';
import { ControlResult } from '../control-parts/control-result.js';
import { ByNumber } from '../ui/page/by-number.js';
import { Page } from '../ui/page/page.js';
import { QueryState } from '../ui/states.js';
import { UserText } from '../ui/user-text.js';
import { visibleText } from '../ui/visible-text.js';
import { ApprovalFacts } from './approval-facts.js';
import { isPending, questionText } from './approval-text.js';
import { LastDecisions } from './last-decisions.js';
import { NarrowForm } from './narrow-form.js';
import { StepText } from './step-text.js';
import { useDecisions } from './use-decision.js';
import { Votes } from './votes.js';
import './approvals.css';

const MAX_QUESTION = 600;
/** Longest time between two readings of a pending approval: browsers know no longer timers than 24 days. */
const LONGEST_MS = 86_400_000;

/** One approval: everything that one needs to decide about it. */
export default function ApprovalPage() {
  return <ByNumber what="An approval">{(id) => <ApprovalOfId key={id} approvalId={id} />}</ByNumber>;
}

function ApprovalOfId({ approvalId }: { readonly approvalId: number }) {
  const query = useQuery(
    ApprovalService.method.getApproval,
    { approvalId },
    // The stream tells of changes; that its time is over is seen here, too.
    { refetchInterval: ({ state }) => untilExpiry(state.data?.approval) },
  );
  return (
    <Page title={`Approval ${approvalId}`} actions={<Link href="/approvals">All approvals</Link>}>
      <QueryState query={query} what="the approval">
        {(reply) => reply.approval !== undefined && <Details reply={reply} approval={reply.approval} />}
      </QueryState>
    </Page>
  );
}

function untilExpiry(approval: Approval | undefined): number | false {
  if (approval?.expiresAt === undefined || !isPending(approval)) return false;
  return Math.min(Math.max(timestampMs(approval.expiresAt) - Date.now() + 200, 1_000), LONGEST_MS);
}

interface DetailsProps {
  readonly reply: GetApprovalResponse;
  readonly approval: Approval;
}

function Details({ reply, approval }: DetailsProps) {
  const { stepJson, stepShortened, explanations, canDecide, cannotDecideBecause } = reply;
  const { id, votes, agentName } = approval;
  const [isNarrowing, setNarrowing] = useState(false);
  const { mayDecide, ask, elements } = useDecisions(canDecide && !isNarrowing ? id : undefined);
  const isFirst = votes.length === 0 && !approval.narrowed && !stepShortened;
  return (
    <div className="stack approval">
      <section className="card" aria-label="Question">
        <p className="question">
          <UserText text={questionText(approval)} max={MAX_QUESTION} />
        </p>
        <ApprovalFacts approval={approval} />
        {mayDecide && canDecide && (
          <div className="decide-buttons">
            <button
              type="button"
              className="primary"
              onClick={() => ask({ approvalId: id, decision: ApprovalDecision.APPROVE })}
            >
              Approve
            </button>
            <button type="button" onClick={() => ask({ approvalId: id, decision: ApprovalDecision.DENY })}>
              Deny
            </button>
            {isFirst && stepJson !== undefined && (
              <button type="button" aria-expanded={isNarrowing} onClick={() => setNarrowing(!isNarrowing)}>
                Change the input…
              </button>
            )}
          </div>
        )}
        {isPending(approval) && !canDecide && cannotDecideBecause !== undefined && (
          <p className="muted">You cannot decide: {visibleText(cannotDecideBecause)}</p>
        )}
        {elements}
      </section>
      {isNarrowing && canDecide && isFirst && stepJson !== undefined && (
        <NarrowForm
          stepJson={stepJson}
          onNarrow={(narrowedInput) =>
            ask({ approvalId: id, decision: ApprovalDecision.APPROVE, narrowedInput })
          }
        />
      )}
      <div className="workplace">
        <div>
          <section className="card">
            <h2>{approval.narrowed ? 'The step, as an approver has changed it' : 'The step'}</h2>
            {stepJson === undefined ? (
              <p className="muted">The step was removed, some time after the approval had ended.</p>
            ) : (
              <StepText json={stepJson} isShortened={stepShortened} />
            )}
            <p className="muted">
              Secrets are masked as <code>***</code>. SHA-256 of the step: <code>{approval.stepSha256}</code>
            </p>
          </section>
          <section aria-label="Why it is asked">
            <h2>Why it is asked</h2>
            <ol className="explanations">
              {explanations.map((control) => (
                <ControlResult key={control.controlId} control={control} />
              ))}
            </ol>
          </section>
        </div>
        <aside>
          <Votes approval={approval} />
          <LastDecisions agentName={agentName} />
        </aside>
      </div>
    </div>
  );
}
