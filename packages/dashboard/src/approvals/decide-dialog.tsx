import { useQuery } from '@connectrpc/connect-query';
import {
  type Approval,
  ApprovalDecision,
  ApprovalService,
  type GetApprovalResponse,
} from '@gen/enforcement/v1/approval_service_pb.js';
import { type FormEvent, useEffect, useId, useRef, useState } from 'react';
import { useChange } from '../data/use-change.js';
import { Dialog } from '../ui/dialog.js';
import { TextField } from '../ui/fields/fields.js';
import { Problem, QueryState } from '../ui/states.js';
import { UserText } from '../ui/user-text.js';
import { visibleText } from '../ui/visible-text.js';
import { questionText, stepText } from './approval-text.js';
import { StepText } from './step-text.js';

const MAX_QUESTION = 600;

interface DecideDialogProps {
  readonly approvalId: number;
  readonly decision: ApprovalDecision;
  /** The input that an approver wants instead, as JSON text. */
  readonly narrowedInput?: string;
  /** Closes it, with what became of the approval if it was decided. */
  readonly onClose: (decided?: Approval) => void;
}

/** Asks before a decision, with the question and the step that it is about. */
export function DecideDialog({ approvalId, decision, narrowedInput, onClose }: DecideDialogProps) {
  const query = useQuery(ApprovalService.method.getApproval, { approvalId });
  const form = useId();
  const verb = decision === ApprovalDecision.APPROVE ? 'Approve' : 'Deny';
  const isOpen = query.data?.canDecide === true;
  return (
    <Dialog
      title={`${verb} this step?`}
      onClose={() => onClose()}
      actions={
        <>
          <button type="button" onClick={() => onClose()}>
            Cancel
          </button>
          <button type="submit" form={form} className="primary" disabled={!isOpen}>
            {verb}
          </button>
        </>
      }
    >
      <QueryState query={query} what="the approval">
        {(reply) => (
          <DecideForm
            id={form}
            reply={reply}
            decision={decision}
            narrowedInput={narrowedInput}
            onDone={onClose}
          />
        )}
      </QueryState>
    </Dialog>
  );
}

interface DecideFormProps {
  readonly id: string;
  readonly reply: GetApprovalResponse;
  readonly decision: ApprovalDecision;
  readonly narrowedInput: string | undefined;
  readonly onDone: (decided?: Approval) => void;
}

function DecideForm({ id, reply, decision, narrowedInput, onDone }: DecideFormProps) {
  const { approval, stepJson, stepShortened, canDecide, cannotDecideBecause } = reply;
  // The vote is about the step that was shown when the dialog was opened, whatever comes later.
  const [seen, setSeen] = useState(approval?.stepSha256 ?? '');
  const [comment, setComment] = useState('');
  const form = useRef<HTMLFormElement>(null);
  // The form may come after the dialog, which has given the focus to its buttons then.
  useEffect(() => form.current?.querySelector('input')?.focus(), []);
  const decide = useChange(ApprovalService.method.decideApproval, (done) => onDone(done.approval));
  if (approval === undefined) return null;
  const isSeen = approval.stepSha256 === seen;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!isSeen || decide.isPending || !canDecide) return;
    const said = comment.trim();
    decide.mutate({
      approvalId: approval.id,
      decision,
      stepSha256: seen,
      ...(said === '' ? {} : { comment: said }),
      ...(narrowedInput === undefined ? {} : { narrowedInputJson: narrowedInput }),
    });
  };
  return (
    <form id={id} ref={form} className="stack" onSubmit={submit}>
      <p className="question">
        <UserText text={questionText(approval)} max={MAX_QUESTION} />
      </p>
      <p className="muted">
        Agent <UserText text={approval.agentName} />, {stepText(approval)}
        {decision === ApprovalDecision.APPROVE && `. ${approval.allows}`}
      </p>
      <TextField label="Comment, which the agent is told" value={comment} onChange={setComment} />
      {stepJson !== undefined && narrowedInput === undefined && (
        <StepText json={stepJson} isShortened={stepShortened} />
      )}
      {narrowedInput !== undefined && (
        <>
          <p>Only this input may be used:</p>
          <StepText json={narrowedInput} isShortened={false} />
        </>
      )}
      {!isSeen && (
        <p className="notice" role="alert">
          Another approver has changed the step.{' '}
          <button type="button" onClick={() => setSeen(approval.stepSha256)}>
            Decide about the changed step
          </button>
        </p>
      )}
      {!canDecide && (
        <p className="problem" role="alert">
          {visibleText(cannotDecideBecause ?? 'It cannot be decided any more.')}
        </p>
      )}
      <Problem error={decide.error} />
    </form>
  );
}
