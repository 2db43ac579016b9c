import { timestampDate } from '@bufbuild/protobuf/wkt';
import { useInfiniteQuery } from '@connectrpc/connect-query';
import { ApprovalState } from '@gen/enforcement/v1/approval_pb.js';
import { type Approval, ApprovalDecision, ApprovalService } from '@gen/enforcement/v1/approval_service_pb.js';
import { type KeyboardEvent, useState } from 'react';
import { Link } from 'wouter';
import { FILTERED_BY_CURSOR, FIRST_PAGE } from '../data/by-cursor.js';
import { useSession } from '../session/session-context.js';
import { SelectField } from '../ui/fields/fields.js';
import { LoadMore } from '../ui/list/load-more.js';
import { useAddressFilter } from '../ui/page/use-address-filter.js';
import { areShortcutsOn, useShortcut } from '../ui/shortcuts/shortcuts.js';
import { Empty, QueryState } from '../ui/states.js';
import { TimeText } from '../ui/time-text.js';
import { UserText } from '../ui/user-text.js';
import { questionText, quorumText, stepText } from './approval-text.js';
import { NoticeSwitch } from './notice-switch.js';
import { useDecisions } from './use-decision.js';

const SHOW = [
  ['', 'those that I may decide about'],
  ['all', 'all'],
] as const;
const MAX_QUESTION = 240;
const MOVES: Readonly<Record<string, number>> = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 };

/** The approvals that wait for a decision, the latest first. */
export function Inbox() {
  const filter = useAddressFilter();
  const { state } = useSession();
  const isMine = state.kind === 'ready' && state.keysRequired && filter.get('show') !== 'all';
  const query = useInfiniteQuery(
    ApprovalService.method.listApprovals,
    { ...FIRST_PAGE, state: ApprovalState.PENDING, ...(isMine ? { mine: true } : {}) },
    FILTERED_BY_CURSOR,
  );
  return (
    <>
      <search className="filters">
        <SelectField label="Waiting" options={SHOW} {...filter.field('show')} />
        <NoticeSwitch />
      </search>
      <QueryState query={query} what="approvals">
        {({ pages }) => {
          const approvals = pages.flatMap((page) => page.approvals);
          return (
            <>
              <Cards approvals={approvals} isMine={isMine} />
              {approvals.length > 0 && (
                <LoadMore {...query} shown={approvals.length} total={pages[0]?.pagination?.total ?? 0} />
              )}
            </>
          );
        }}
      </QueryState>
    </>
  );
}

interface CardsProps {
  readonly approvals: readonly Approval[];
  readonly isMine: boolean;
}

function Cards({ approvals, isMine }: CardsProps) {
  const [selected, setSelected] = useState<number>();
  // By id and not by place: what comes in between must not make a key mean another one.
  const at = approvals.findIndex(({ id }) => id === selected);
  const { mayDecide, ask, elements } = useDecisions((approvals[at] ?? approvals[0])?.id, ({ id }) => {
    const place = approvals.findIndex((one) => one.id === id);
    select(approvals[place + 1] ?? approvals[place - 1]);
  });
  function select(approval: Approval | undefined): void {
    setSelected(approval?.id);
    if (approval !== undefined) document.getElementById(cardId(approval))?.focus();
  }
  const move = (by: number): void =>
    select(approvals[at === -1 ? 0 : Math.min(Math.max(at + by, 0), approvals.length - 1)]);
  useShortcut('j', 'Go to the next approval', () => move(1));
  useShortcut('k', 'Go to the previous approval', () => move(-1));
  const onKeyDown = (event: KeyboardEvent): void => {
    const by = event.key.startsWith('Arrow') || areShortcutsOn() ? MOVES[event.key] : undefined;
    if (by === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    move(by);
  };
  return (
    <>
      {elements}
      {approvals.length === 0 && (
        <Empty title={isMine ? 'Nothing waits for you' : 'No step waits for a decision'}>
          <p>
            Controls with an approval ask here before a step that they match may run. New ones appear by
            themselves.
          </p>
        </Empty>
      )}
      <ul className="approval-cards" aria-label="Approvals that wait" onKeyDown={onKeyDown}>
        {approvals.map((approval) => (
          <li
            key={approval.id}
            id={cardId(approval)}
            tabIndex={-1}
            className={approval.id === selected ? 'card selected' : 'card'}
            onFocus={() => setSelected(approval.id)}
          >
            <Card approval={approval} />
            {mayDecide && (
              <div className="decide-buttons">
                <button
                  type="button"
                  className="primary"
                  aria-label={`Approve ${approval.id}`}
                  onClick={() => ask({ approvalId: approval.id, decision: ApprovalDecision.APPROVE })}
                >
                  Approve
                </button>
                <button
                  type="button"
                  aria-label={`Deny ${approval.id}`}
                  onClick={() => ask({ approvalId: approval.id, decision: ApprovalDecision.DENY })}
                >
                  Deny
                </button>
              </div>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}

function cardId({ id }: Approval): string {
  return `approval-${id}`;
}

function Card({ approval }: { readonly approval: Approval }) {
  const { id, agentName, controls, askedAt, expiresAt, narrowed } = approval;
  return (
    <>
      <Link href={`/approvals/${id}`} className="question">
        <UserText text={questionText(approval)} max={MAX_QUESTION} />
      </Link>
      <p>
        <UserText text={agentName} /> · <UserText text={stepText(approval)} />
      </p>
      <p className="muted">
        asked {askedAt !== undefined && <TimeText time={timestampDate(askedAt).toISOString()} />}, expires{' '}
        {expiresAt !== undefined && <TimeText time={timestampDate(expiresAt).toISOString()} />}
        {controls
          .filter(({ quorum }) => quorum > 1)
          .map((control) => (
            <span key={control.controlId}>, {quorumText(control)}</span>
          ))}
        {narrowed && ', changed by an approver'}
      </p>
    </>
  );
}
