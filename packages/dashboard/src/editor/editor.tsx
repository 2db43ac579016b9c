import { lazy, Suspense, useCallback, useMemo, useReducer, useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { DenyQuestion } from '../control-parts/deny-question.js';
import { type DenyRisk, denyRisk } from '../control-parts/deny-risk.js';
import { OwnedQuestion } from '../control-parts/owned-note.js';
import { DraftState } from '../drafts/draft-state.js';
import { useKeptDraft } from '../drafts/use-kept-draft.js';
import { ReplayFigure } from '../replay/replay-figure.js';
import { useReplay } from '../replay/use-replay.js';
import { useMay } from '../session/session-context.js';
import { SetShadow } from '../shadows/set-shadow.js';
import { useLeaveGuard } from '../ui/page/leave-guard.js';
import { Page } from '../ui/page/page.js';
import { Tabs } from '../ui/page/tabs.js';
import { useAddressFilter } from '../ui/page/use-address-filter.js';
import { ErrorState, Loading } from '../ui/states.js';
import { UserText } from '../ui/user-text.js';
import { draftMessage } from './draft-message.js';
import { editorPlace, keptEditorDraft } from './editor-draft.js';
import { type EditorState, editorReducer } from './editor-state.js';
import { isSameJson, type JsonObject } from './json.js';
import { NodeForm } from './node-form.js';
import type { PlacedProblem } from './problem-place.js';
import { ProblemSummary } from './problem-summary.js';
import { FIRST_STEP } from './sample-step.js';
import { SaveProgress } from './save-progress.js';
import { TreePane } from './tree-pane.js';
import { TryPane } from './try-pane.js';
import { useCommandKeys } from './use-command-keys.js';
import { useProblems } from './use-problems.js';
import { type SavedState, type SaveOutcome, useSave } from './use-save.js';
import { useServerCheck } from './use-server-check.js';
import { type TrialStep, useTrial } from './use-trial.js';
import './editor.css';

const DefinitionTextView = lazy(() =>
  import('./definition-text-view.js').then((module) => ({ default: module.DefinitionTextView })),
);

interface EditorProps {
  readonly saved: SavedState;
  /** The state to start with. It differs from what is saved when another version is edited. */
  readonly start: EditorState;
  /** The agent that a new control is linked to. Blank: none. */
  readonly linkTo: string;
  /** Who applies the control as configuration. */
  readonly owner?: string | undefined;
  /** What became of a save before the editor was opened. */
  readonly before?: SaveOutcome;
}

/** A save that waits for an answer. */
interface Asking {
  /** What belongs to an owner, or why a change can deny more. */
  readonly question: 'owner' | DenyRisk;
  readonly overVersion: bigint | undefined;
}

const NOTHING_SAVED: SaveOutcome = { kind: 'none' };

/** Edits a control in three panes: its condition as a tree, the selected node, and a step to try it with. */
export function Editor({ saved: stored, start, linkTo, owner, before = NOTHING_SAVED }: EditorProps) {
  const [state, dispatch] = useReducer(editorReducer, start);
  const { name, draft, selected } = state;
  const { parameters: address, set: setAddress } = useAddressFilter();
  const [, navigate] = useLocation();
  const [step, setStep] = useState<TrialStep>({ text: FIRST_STEP, stage: 'pre', agentName: linkTo });
  const tree = useRef<HTMLDivElement>(null);
  const form = useRef<HTMLElement>(null);
  const check = useServerCheck(draft, stored.control?.controlId ?? null);
  const trial = useTrial(draft, step);
  const saving = useSave(stored, {
    linkTo,
    onDone: async (controlId) => {
      await kept.discard();
      guard.release();
      navigate(`/controls/${controlId}`);
    },
    // From now on, the control has an address of its own. The warnings go there.
    onCreated: async (created) => {
      await kept.discard();
      guard.release();
      navigate(`/controls/${created.controlId}/edit`, { replace: true, state: { saved: created } });
    },
    before,
  });
  const { saved, outcome } = saving;
  const controlId = saved.control?.controlId ?? null;
  const [asking, setAsking] = useState<Asking | null>(null);
  const isDirty = useMemo(
    () => name !== saved.name || !isSameJson(draft, saved.draft),
    [name, draft, saved.name, saved.draft],
  );
  const guard = useLeaveGuard(isDirty);
  const isNew = saved.control === null;
  const title = isNew ? 'New control' : `Edit ${saved.name}`;
  const kept = useKeptDraft({
    place: editorPlace(controlId),
    title: isNew && name !== '' ? `New control ${name}` : title,
    value: keptEditorDraft(state, saved.control?.version, linkTo),
    isDirty,
  });
  const problems = useProblems(state, check, outcome);

  const isRefused = problems.all.some(({ severity }) => severity === 'error');
  const mayReplay = useMay('samples.read');
  const definition = () => draftMessage(draft).message;
  const replay = useReplay(
    mayReplay && !isNew && isDirty && !isRefused
      ? { name: saved.name, definition, text: JSON.stringify(draft) }
      : null,
  );
  const save = (overVersion?: bigint, isOwnerAsked = owner === undefined): void => {
    const risk = denyRisk(saved.control === null ? null : saved.draft, draft);
    const question = isRefused ? null : isOwnerAsked ? risk : 'owner';
    setAsking(question && { question, overVersion });
    if (question === null) saving.save(name, draft, overVersion);
  };
  useCommandKeys({ s: () => save(), Enter: trial.run });

  const focusForm = useCallback(() => {
    form.current?.querySelector<HTMLElement>('input, select, textarea, .cm-content')?.focus();
  }, []);
  const openProblem = ({ place }: PlacedProblem): void => {
    dispatch({ type: 'select', selected: place.node });
    // The form of the node is there after the next drawing.
    requestAnimationFrame(() => {
      const invalid = form.current?.querySelector<HTMLElement>('[aria-invalid=true]');
      if (invalid) invalid.focus();
      else focusForm();
    });
  };
  const replaceDraft = useCallback(
    (next: JsonObject) => dispatch({ type: 'replace', draft: next, merge: 'json' }),
    [],
  );
  return (
    <Page
      title={title}
      heading={
        isNew ? (
          'New control'
        ) : (
          <>
            Edit <UserText text={saved.name} />
          </>
        )
      }
      actions={
        <span className="links">
          <Link href={isNew ? '/controls' : `/controls/${saved.control?.controlId}`}>
            {isNew ? 'All controls' : 'The control'}
          </Link>
          <span className="muted" role="status">
            {isDirty ? <DraftState state={kept.state} /> : ''}
          </span>
          {controlId !== null && (
            <SetShadow
              controlId={controlId}
              name={saved.name}
              definition={definition}
              disabled={!isDirty || isRefused}
              onDone={async () => {
                await kept.discard();
                guard.release();
                navigate(`/controls/${controlId}?tab=shadow`);
              }}
            />
          )}
          <button
            type="button"
            className="primary"
            title="Ctrl+S"
            disabled={outcome.kind === 'saving' || (!isDirty && !isNew)}
            onClick={() => save()}
          >
            {saveText(isNew, outcome.kind === 'saving')}
          </button>
        </span>
      }
    >
      {mayReplay && !isNew && (
        <p className="replay-line">
          <ReplayFigure replay={replay} />
        </p>
      )}
      {outcome.kind === 'failed' && <ErrorState error={outcome.error} onRetry={() => save()} />}
      <SaveProgress
        state={state}
        dispatch={dispatch}
        saving={saving}
        held={guard}
        linkTo={linkTo}
        onOverwrite={save}
        onDiscard={() => void kept.discard()}
      />
      {asking?.question === 'owner' && (
        <OwnedQuestion
          name={saved.name}
          owner={owner}
          onConfirm={() => save(asking.overVersion, true)}
          onCancel={() => setAsking(null)}
        />
      )}
      {asking !== null && asking.question !== 'owner' && (
        <DenyQuestion
          risk={asking.question}
          name={name}
          controlId={controlId}
          linkTo={linkTo}
          figure={replay.kind === 'none' ? null : <ReplayFigure replay={replay} />}
          onConfirm={() => {
            setAsking(null);
            saving.save(name, draft, asking.overVersion);
          }}
          onCancel={() => setAsking(null)}
        />
      )}
      <div className="editor">
        <TreePane
          state={state}
          dispatch={dispatch}
          problems={problems}
          results={trial.results}
          treeRef={tree}
          openForm={focusForm}
        />
        <section
          ref={form}
          className="editor-pane form-pane"
          aria-label="Selected node"
          onKeyDown={(event) => {
            if (event.key === 'Escape' && !event.defaultPrevented) tree.current?.focus();
          }}
        >
          <Tabs
            label="View"
            selected={address.get('view') ?? 'form'}
            onSelect={(view) => setAddress('view', view === 'form' ? '' : view)}
            tabs={[
              {
                id: 'form',
                name: 'Form',
                content: (
                  <NodeForm
                    state={state}
                    dispatch={dispatch}
                    problems={problems}
                    agentName={step.agentName}
                  />
                ),
              },
              {
                id: 'json',
                name: 'JSON',
                content: (
                  <Suspense fallback={<Loading what="the JSON view" />}>
                    <DefinitionTextView
                      draft={draft}
                      selected={selected}
                      problems={problems.all}
                      onChange={replaceDraft}
                    />
                  </Suspense>
                ),
              },
            ]}
          />
        </section>
        <TryPane step={step} onStep={setStep} trial={trial} />
      </div>
      <ProblemSummary
        problems={problems}
        isEmpty={isNew && state.past.length === 0 && name === ''}
        failure={check.failure}
        onRetry={check.retry}
        onOpen={openProblem}
      />
    </Page>
  );
}

function saveText(isNew: boolean, isSaving: boolean): string {
  if (isSaving) return isNew ? 'Creating…' : 'Saving…';
  return isNew ? 'Create control' : 'Save';
}
