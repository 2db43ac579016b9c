import { timestampDate } from '@bufbuild/protobuf/wkt';
import {
  type ControlExecutionEvent,
  type FalsePositive,
  ObservabilityService,
} from '@gen/enforcement/v1/observability_service_pb.js';
import { useState } from 'react';
import { useChange } from '../data/use-change.js';
import { useIsLimited, useMay } from '../session/session-context.js';
import { ConfirmButton } from '../ui/confirm-button.js';
import { TextField } from '../ui/fields/fields.js';
import { Problem } from '../ui/states.js';
import { TimeText } from '../ui/time-text.js';
import { UserText } from '../ui/user-text.js';
import { MarkBadge, useMark } from './marked-events.js';

interface OfEvent {
  readonly event: ControlExecutionEvent;
}

/** Whether a match is a false positive, and how that is said. Nothing for what is no match of a control. */
export function FalsePositiveOf({ event }: OfEvent) {
  const mark = useMark(event);
  const mayReach = !useIsLimited();
  const mayMark = useMay('controls.write') && mayReach;
  const { controlId = 0, matched, errorMessage } = event;
  if (controlId <= 0 || matched !== true || errorMessage !== undefined) return null;
  if (mark !== undefined) return <Marked event={event} mark={mark} mayUnmark={mayMark} />;
  return mayMark ? <MarkButton event={event} /> : null;
}

interface MarkedProps extends OfEvent {
  readonly mark: FalsePositive;
  readonly mayUnmark: boolean;
}

function Marked({ event, mark, mayUnmark }: MarkedProps) {
  const unmark = useChange(ObservabilityService.method.unmarkFalsePositive);
  const { controlExecutionId, controlId, markedAt, markedBy, note } = mark;
  return (
    <div className="false-positive">
      <p>
        <MarkBadge event={event} /> Marked by <UserText text={markedBy} />{' '}
        {markedAt !== undefined && <TimeText time={timestampDate(markedAt).toISOString()} />}
        {note !== undefined && (
          <>
            : <UserText text={note} />
          </>
        )}
      </p>
      {mayUnmark && (
        <button
          type="button"
          aria-label={`Take the mark away from the match of ${event.controlName ?? ''}`}
          disabled={unmark.isPending}
          onClick={() => unmark.mutate({ controlExecutionId, controlId })}
        >
          Take the mark away
        </button>
      )}
      <Problem error={unmark.error} />
    </div>
  );
}

function MarkButton({ event }: OfEvent) {
  const [note, setNote] = useState('');
  const mark = useChange(ObservabilityService.method.markFalsePositive);
  const { controlExecutionId = '', controlId = 0, controlName = '' } = event;
  const given = note.trim();
  const confirm = () =>
    mark.mutateAsync({ controlExecutionId, controlId, ...(given === '' ? {} : { note: given }) });
  return (
    <div className="false-positive">
      <ConfirmButton
        verb="Mark as false positive"
        object={`the match of ${controlName}`}
        label="Mark as false positive…"
        change={mark}
        onConfirm={confirm}
      >
        <p>
          It says that the control should not have matched. The control stays as it is; its page counts the
          marks, and a replay says how many of them a change still denies.
        </p>
        <TextField label="Why (for those who change the control)" value={note} onChange={setNote} />
      </ConfirmButton>
    </div>
  );
}
