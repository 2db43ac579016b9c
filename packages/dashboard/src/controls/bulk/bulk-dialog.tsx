import type { ControlSummary } from '@gen/enforcement/v1/control_service_pb.js';
import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { OwnedNote, OwnedNotes } from '../../control-parts/owned-note.js';
import { usageText } from '../../control-parts/use-control-usage.js';
import { useRefresh } from '../../data/use-change.js';
import { numberOf } from '../../ui/numbers.js';
import { useLeaveGuard } from '../../ui/page/leave-guard.js';
import { Problem } from '../../ui/states.js';
import { UserText } from '../../ui/user-text.js';
import type { BulkAction } from './bulk-actions.js';
import { BulkOutcome } from './bulk-outcome.js';
import { MAX_COUNTED, useBulkUsage } from './bulk-usage.js';
import type { ChosenControls } from './chosen-controls.js';
import { type BulkResult, runBulk } from './run-bulk.js';

const MAX_NAMED = 10;

interface BulkDialogProps {
  readonly title: string;
  /** Null until the viewer has chosen everything that it needs. */
  readonly action: BulkAction | null;
  readonly controls: ChosenControls;
  /** Called when the dialog is closed, with the controls that are not done; null if nothing was begun. */
  readonly onClose: (remaining: readonly ControlSummary[] | null) => void;
  /** Fields of the action. */
  readonly children?: ReactNode;
}

type State =
  | { readonly kind: 'reading'; readonly read: number; readonly error?: unknown }
  | { readonly kind: 'asking'; readonly controls: readonly ControlSummary[] }
  | { readonly kind: 'running'; readonly finished: number; readonly of: number }
  | { readonly kind: 'finished'; readonly results: readonly BulkResult<ControlSummary>[] };

/** Reads the chosen controls, confirms an action on them, runs it, and says what became of each of them. */
export function BulkDialog({ title, action, controls, onClose, children }: BulkDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const stop = useRef(new AbortController());
  const refresh = useRefresh();
  const titleId = useId();
  const [state, setState] = useState<State>({ kind: 'reading', read: 0 });
  useEffect(() => dialog.current?.showModal(), []);
  useEffect(() => () => stop.current.abort(), []);
  const { current: chosen } = useRef(controls);
  useEffect(() => {
    const reading = new AbortController();
    const { signal } = reading;
    chosen
      .read(signal, (read) => signal.aborted || setState({ kind: 'reading', read }))
      .then((read) => signal.aborted || setState({ kind: 'asking', controls: read }))
      .catch((error: unknown) => signal.aborted || setState({ kind: 'reading', read: 0, error }));
    return () => reading.abort();
  }, [chosen]);
  // What runs is stopped by its own button, so that its outcome is seen.
  useLeaveGuard(state.kind === 'running');

  const run = async (items: readonly ControlSummary[], before: readonly BulkResult<ControlSummary>[]) => {
    if (action === null) return;
    stop.current = new AbortController();
    setState({ kind: 'running', finished: 0, of: items.length });
    const results = await runBulk({
      items,
      act: (control) => action.act(control, before.length > 0),
      signal: stop.current.signal,
      onProgress: (finished) => setState({ kind: 'running', finished, of: items.length }),
    });
    const again = new Map(results.map((result) => [result.item.id, result]));
    const all = before.length === 0 ? results : before.map((result) => again.get(result.item.id) ?? result);
    setState({ kind: 'finished', results: all });
    refresh(action.change);
  };
  // Closing the dialog gives the focus back to where it was.
  const leave = (): void => dialog.current?.close();
  const close = (): void => {
    stop.current.abort();
    if (state.kind === 'running') {
      // Browsers close a dialog at the second Escape, whatever the page says.
      dialog.current?.showModal();
      return;
    }
    onClose(
      state.kind === 'finished'
        ? state.results.filter(({ kind }) => kind !== 'done').map(({ item }) => item)
        : null,
    );
  };
  return (
    <dialog
      ref={dialog}
      className="bulk-dialog"
      aria-labelledby={titleId}
      onCancel={(event) => {
        if (state.kind === 'running') event.preventDefault();
      }}
      onClose={close}
    >
      <h2 id={titleId}>{title}</h2>
      {state.kind === 'reading' && (
        <>
          <Problem error={state.error} />
          {state.error === undefined && (
            <p role="status">
              Reading {state.read.toLocaleString()} of {numberOf(controls.count, 'control')}…
            </p>
          )}
          <div className="dialog-actions">
            <button type="button" onClick={leave}>
              Cancel
            </button>
          </div>
        </>
      )}
      {state.kind === 'asking' && (
        <Question
          action={action}
          controls={state.controls}
          onConfirm={(items) => run(items, [])}
          onCancel={leave}
        >
          {children}
        </Question>
      )}
      {state.kind === 'running' && (
        <>
          <progress value={state.finished} max={state.of} aria-label="Progress" />
          <p role="status">
            {state.finished.toLocaleString()} of {numberOf(state.of, 'control')}
          </p>
          <div className="dialog-actions">
            <button type="button" onClick={() => stop.current.abort()}>
              Stop
            </button>
          </div>
        </>
      )}
      {state.kind === 'finished' && action !== null && (
        <BulkOutcome
          results={state.results}
          done={action.done}
          onRetry={(items) => run(items, state.results)}
          onClose={leave}
        />
      )}
    </dialog>
  );
}

interface QuestionProps {
  readonly action: BulkAction | null;
  readonly controls: readonly ControlSummary[];
  readonly onConfirm: (items: readonly ControlSummary[]) => void;
  readonly onCancel: () => void;
  readonly children: ReactNode;
}

function Question({ action, controls, onConfirm, onCancel, children }: QuestionProps) {
  const items = controls.filter((control) => action?.isDone(control) !== true);
  const usage = useBulkUsage(items);
  const already = controls.length - items.length;
  return (
    <>
      {children}
      <ul>
        {items.slice(0, MAX_NAMED).map((control) => (
          <li key={control.id}>
            <UserText text={control.name} />{' '}
            <span className="muted">used by {numberOf(control.usedByAgentsCount, 'agent')}</span>
          </li>
        ))}
        {items.length > MAX_NAMED && <li>and {(items.length - MAX_NAMED).toLocaleString()} more</li>}
      </ul>
      {already > 0 && (
        <p className="muted">{numberOf(already, 'selected control')} already so; nothing is done to it.</p>
      )}
      <p role="status">
        {items.length > MAX_COUNTED ? (
          `${numberOf(items.filter((control) => control.usedByAgentsCount > 0).length, 'control')} of them are used by agents.`
        ) : (
          <>
            Together they are used by {usage.data?.isComplete === false && 'at least '}
            {usageText(usage.data?.policies, usage.data?.agents)}.
          </>
        )}
      </p>
      {action !== null && (
        <>
          <p>{action.effect}</p>
          <OwnedNotes owners={items.flatMap((control) => action.ownerOf?.(control) ?? [])} />
          <OwnedNote what="policy" owner={action.policyOwner} />
        </>
      )}
      <div className="dialog-actions">
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
        <button
          type="button"
          className="primary"
          disabled={action === null || items.length === 0}
          onClick={() => onConfirm(items)}
        >
          {action?.verb ?? 'Continue'}:{' '}
          {items.length === 1 ? <bdi>{items[0]?.name}</bdi> : numberOf(items.length, 'control')}
        </button>
      </div>
    </>
  );
}
