import type { ControlExecutionEvent } from '@gen/enforcement/v1/observability_service_pb.js';
import { NameLink } from '../ui/name-link.js';
import { UserText } from '../ui/user-text.js';

type Named = Pick<ControlExecutionEvent, 'controlId' | 'controlName' | 'evaluatorName' | 'metadata'>;

/** Why a halt denied the step, which is recorded without a control; undefined for checks of controls. */
export function haltOf({ controlId = 0, evaluatorName, metadata }: Named): string | undefined {
  if (controlId > 0 || evaluatorName !== 'halt') return undefined;
  const { halt } = metadata ?? {};
  const reason = typeof halt === 'object' && halt !== null && 'reason' in halt ? halt.reason : undefined;
  return `A halt denied the step, and no control was evaluated${reason === undefined ? '' : `: ${reason}`}`;
}

/** What an event is of, with its page: a control, or a halt. */
export function EventControl({ event, max }: { readonly event: Named; readonly max?: number }) {
  const { controlId = 0, controlName = '' } = event;
  const limit = max === undefined ? {} : { max };
  if (haltOf(event) !== undefined) {
    return <NameLink href="/halts?state=all" name={controlName} {...limit} />;
  }
  return controlId > 0 ? (
    <NameLink href={`/controls/${controlId}`} name={controlName} {...limit} />
  ) : (
    <UserText text={controlName} {...limit} />
  );
}
