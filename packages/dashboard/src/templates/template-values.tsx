import type { JsonObject } from '@bufbuild/protobuf';
import type { ControlDefinition, ControlTemplate, Warning } from '@gen/enforcement/v1/control_pb.js';
import type { GetControlResponse } from '@gen/enforcement/v1/control_service_pb.js';
import { useMemo, useState } from 'react';
import { Link } from 'wouter';
import { useHistoryState } from 'wouter/use-browser-location';
import { isSameJson } from '../code/json-members.js';
import { definitionValue } from '../control-parts/definition-json.js';
import { DenyQuestion } from '../control-parts/deny-question.js';
import { type DenyRisk, denyRisk } from '../control-parts/deny-risk.js';
import { OwnedQuestion } from '../control-parts/owned-note.js';
import { DraftState } from '../drafts/draft-state.js';
import { useKeptDraft } from '../drafts/use-kept-draft.js';
import { ConflictDialog, LeaveDialog } from '../editor/save-dialogs.js';
import { useMay } from '../session/session-context.js';
import { useLeaveGuard } from '../ui/page/leave-guard.js';
import { Page } from '../ui/page/page.js';
import { UserText } from '../ui/user-text.js';
import { Warnings } from '../ui/warnings.js';
import { SaveProblem } from './save-problem.js';
import { type KeptTemplate, keptTemplate, valuesPlace } from './template-kept.js';
import { missingLabels, readTemplate, templateText } from './template-model.js';
import { type TemplateDraft, TemplateWorkbench, withText } from './template-workbench.js';
import { useRendering } from './use-rendering.js';
import { storeValues, useSaveTemplate } from './use-save-template.js';

/** What the page that created the control tells this one. */
interface CreatedState {
  readonly isNew?: boolean;
  readonly warnings?: readonly Warning[];
}

/** A save that waits for an answer. */
interface Asking {
  readonly question: 'owner' | DenyRisk;
  readonly isToBeOn: boolean;
  readonly version: bigint;
}

interface TemplateValuesProps {
  readonly control: GetControlResponse;
  readonly data: ControlDefinition;
  readonly template: ControlTemplate;
  readonly kept: KeptTemplate | null;
  /** Loads the stored values again, in place of these. */
  readonly onReload: () => void;
}

/** Edits the values of a stored control, and its template. A regular key can try values and not store them. */
export function TemplateValues(props: TemplateValuesProps) {
  const { control, data, template: stored, kept, onReload } = props;
  const mayChange = useMay('controls.write');
  const created = (useHistoryState() ?? {}) as CreatedState;
  const [first] = useState<TemplateDraft>(() => ({
    text: templateText(stored),
    template: stored,
    values: data.templateValues ?? {},
  }));
  const [draft, setDraft] = useState(() =>
    kept === null ? first : withText({ ...first, values: kept.values }, kept.text, readTemplate(kept.text)),
  );
  const [saved, setSaved] = useState({
    draft: first,
    // Saving asks who wins if a draft started from an earlier version.
    version: kept?.version ?? control.version,
    isDraft: isDraftOf(data),
    definition: definitionValue(data) as JsonObject,
  });
  const [isOn, setOn] = useState(data.enabled !== false);
  const reading = useMemo(() => readTemplate(draft.text), [draft.text]);
  const rendering = useRendering(draft.template, draft.values);
  const { attempt, save, dismiss } = useSaveTemplate();
  const isDirty = draft.text !== saved.draft.text || !isSameJson(draft.values, saved.draft.values);
  const held = useLeaveGuard(mayChange && isDirty);
  const keeping = useKeptDraft({
    place: valuesPlace(control.id),
    title: `Values of ${control.name}`,
    value: keptTemplate({ name: '', text: draft.text, values: draft.values, version: saved.version }),
    isDirty: mayChange && isDirty,
  });
  const [asking, setAsking] = useState<Asking | null>(null);
  const { template, values } = draft;
  const isIncomplete = template !== undefined && missingLabels(template, values).length > 0;
  const canSave = isDirty && template !== undefined && !('problem' in reading) && attempt.kind !== 'saving';

  const definition =
    rendering.definition === undefined ? undefined : (definitionValue(rendering.definition) as JsonObject);
  const submit = (
    isToBeOn: boolean,
    version = saved.version,
    isOwnerAsked = control.owner === undefined,
  ): void => {
    const before = { ...saved.definition, enabled: isOn && !saved.isDraft };
    const after = definition && { ...definition, enabled: isOn || isToBeOn };
    const risk = after === undefined ? null : denyRisk(before, after);
    const question = isOwnerAsked ? risk : 'owner';
    setAsking(question && { question, isToBeOn, version });
    if (question === null) void store(isToBeOn, version);
  };
  const store = async (isToBeOn: boolean, version: bigint): Promise<void> => {
    if (template === undefined) return;
    const stored = { draft, isDraft: isIncomplete, definition: definition ?? saved.definition };
    const onStored = (next: bigint): void => setSaved({ ...stored, version: next });
    const done = await save(() =>
      storeValues({ template, values }, { controlId: control.id, version, isToBeOn, onStored }),
    );
    if (done === null) return;
    onStored(done.version);
    if (isToBeOn) setOn(true);
  };

  return (
    <Page
      title={`Values of ${control.name}`}
      heading={
        <>
          Values of <UserText text={control.name} />
        </>
      }
      actions={
        <span className="links">
          <Link href={`/controls/${control.id}`}>Open the control</Link>
          {mayChange && (
            <Link href={`/templates/new?from=${control.id}`}>Another control from this template</Link>
          )}
        </span>
      }
    >
      {held.isHeld && (
        <LeaveDialog name={control.name} held={held} onDiscard={() => void keeping.discard()} />
      )}
      {asking?.question === 'owner' && (
        <OwnedQuestion
          name={control.name}
          owner={control.owner}
          onConfirm={() => submit(asking.isToBeOn, asking.version, true)}
          onCancel={() => setAsking(null)}
        />
      )}
      {asking !== null && asking.question !== 'owner' && (
        <DenyQuestion
          risk={asking.question}
          name={control.name}
          controlId={control.id}
          linkTo=""
          onConfirm={() => {
            setAsking(null);
            void store(asking.isToBeOn, asking.version);
          }}
          onCancel={() => setAsking(null)}
        />
      )}
      {attempt.kind === 'conflict' && (
        <ConflictDialog
          control={{ controlId: control.id, version: saved.version }}
          name={control.name}
          currentVersion={attempt.currentVersion}
          onOverwrite={() => submit(false, attempt.currentVersion)}
          onTakeTheirs={() => {
            void keeping.discard();
            onReload();
          }}
          onClose={dismiss}
        />
      )}
      <State created={created.isNew === true} isDraft={saved.isDraft} isOn={isOn} controlId={control.id} />
      <Warnings warnings={attempt.kind === 'saved' ? attempt.control.warnings : (created.warnings ?? NONE)} />
      <TemplateWorkbench
        draft={draft}
        reading={reading}
        rendering={rendering}
        refused={attempt.kind === 'refused' ? attempt.problems : []}
        isTemplateOpen={false}
        onText={(text) => setDraft((old) => withText(old, text, readTemplate(text)))}
        onValues={(next) => setDraft((old) => ({ ...old, values: next }))}
        actions={
          mayChange ? (
            <>
              <div className="save-actions">
                <button type="button" className="primary" disabled={!canSave} onClick={() => submit(false)}>
                  {attempt.kind === 'saving' ? 'Saving…' : isIncomplete ? 'Save as draft' : 'Save'}
                </button>
                {!isOn && !isIncomplete && (
                  <button type="button" disabled={!canSave} onClick={() => submit(true)}>
                    Save and switch on
                  </button>
                )}
                <span className="muted" role="status">
                  {isDirty && <DraftState state={keeping.state} />}
                  {!isDirty && attempt.kind === 'saved' && `Saved as version ${saved.version}.`}
                </span>
              </div>
              <SaveProblem attempt={attempt} />
            </>
          ) : (
            <p className="muted">
              Other values can be tried here. Storing them needs the scope controls.write.
            </p>
          )
        }
      />
    </Page>
  );
}

const NONE: readonly Warning[] = [];

function isDraftOf({ condition }: ControlDefinition): boolean {
  return condition === undefined;
}

interface StateProps {
  readonly created: boolean;
  readonly isDraft: boolean;
  readonly isOn: boolean;
  readonly controlId: number;
}

function State({ created, isDraft, isOn, controlId }: StateProps) {
  if (isDraft) {
    return (
      <p className="notice">
        <strong>Draft.</strong> Parameters have no value yet, so the control is off and checks nothing.
      </p>
    );
  }
  if (!isOn) {
    return (
      <p className="notice">
        The control is off. Switch it on <Link href={`/controls/${controlId}`}>on its page</Link>, or save
        other values and switch it on.
      </p>
    );
  }
  if (!created) return null;
  return (
    <p className="card" role="status">
      <strong>Created.</strong> It checks the agents that{' '}
      <Link href={`/controls/${controlId}?tab=usage`}>it is linked to</Link>.
    </p>
  );
}
