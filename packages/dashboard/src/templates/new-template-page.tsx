import type { JsonObject } from '@bufbuild/protobuf';
import { useQuery } from '@connectrpc/connect-query';
import { ControlService } from '@gen/enforcement/v1/control_service_pb.js';
import { useMemo, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { DraftGate } from '../drafts/draft-gate.js';
import { useKeptDraft } from '../drafts/use-kept-draft.js';
import { AdminOnly } from '../editor/editor-notices.js';
import { LeaveDialog } from '../editor/save-dialogs.js';
import { useMay } from '../session/session-context.js';
import { useLeaveGuard } from '../ui/page/leave-guard.js';
import { Page } from '../ui/page/page.js';
import { useAddressFilter } from '../ui/page/use-address-filter.js';
import { Empty, QueryState } from '../ui/states.js';
import { EXAMPLE_TEMPLATES } from './example-templates.js';
import { NameField } from './name-field.js';
import { SaveProblem } from './save-problem.js';
import { StoredTemplates } from './stored-templates.js';
import { type KeptTemplate, keptTemplate, readKeptTemplate } from './template-kept.js';
import { missingLabels, readTemplate, templateText } from './template-model.js';
import { TemplateStarts } from './template-starts.js';
import { type TemplateDraft, TemplateWorkbench, withText } from './template-workbench.js';
import { useRendering } from './use-rendering.js';
import { createFromTemplate, useSaveTemplate } from './use-save-template.js';

const BLANK: JsonObject = {
  description: '',
  parameters: { words: { type: 'string_list', label: 'Words' } },
  definition_template: {
    execution: 'server',
    condition: {
      selector: { path: 'input.text' },
      evaluator: { name: 'list', config: { values: { $param: 'words' }, match_mode: 'contains' } },
    },
    action: { decision: 'observe' },
  },
};

/** Makes a control from a template: an example, that of a stored control, or one of one's own. */
export default function NewTemplatePage() {
  const mayChange = useMay('controls.write');
  const { parameters } = useAddressFilter();
  const example = parameters.get('example');
  const from = Number(parameters.get('from') ?? 0);
  if (!mayChange) return <AdminOnly title="New from template" />;
  if (Number.isInteger(from) && from > 0 && from < 2 ** 31)
    return <FromControl key={from} controlId={from} />;
  const known = EXAMPLE_TEMPLATES.find(({ id }) => id === example);
  if (known !== undefined) return <NewFromTemplate key={known.id} template={known.template} isOwn={false} />;
  if (example === 'blank') return <NewFromTemplate template={BLANK} isOwn />;
  return (
    <Page title="New from template" actions={<Link href="/templates">All templates</Link>}>
      <TemplateStarts />
      <StoredTemplates />
    </Page>
  );
}

function FromControl({ controlId }: { readonly controlId: number }) {
  const query = useQuery(ControlService.method.getControl, { controlId }, { staleTime: 60_000 });
  const template = query.data?.data?.template;
  if (template !== undefined) {
    return <NewFromTemplate template={JSON.parse(templateText(template)) as JsonObject} isOwn={false} />;
  }
  return (
    <Page title="New from template">
      <QueryState query={query} what="the template">
        {() => <Empty title="This control is not made from a template" />}
      </QueryState>
    </Page>
  );
}

interface NewFromTemplateProps {
  readonly template: JsonObject;
  /** Whether the template itself is to be written. */
  readonly isOwn: boolean;
}

const PLACE = 'new template';

function NewFromTemplate(props: NewFromTemplateProps) {
  return (
    <DraftGate place={PLACE} read={readKeptTemplate}>
      {(kept) => <NewTemplateForm {...props} kept={kept} />}
    </DraftGate>
  );
}

function draftOf(text: string, values: JsonObject): TemplateDraft {
  return withText({ text, template: undefined, values }, text, readTemplate(text));
}

function NewTemplateForm({
  template: start,
  isOwn,
  kept,
}: NewFromTemplateProps & { readonly kept: KeptTemplate | null }) {
  const [name, setName] = useState(kept?.name ?? '');
  const [first] = useState(() => draftOf(JSON.stringify(start, null, 2), {}));
  const [draft, setDraft] = useState(() => (kept === null ? first : draftOf(kept.text, kept.values)));
  const [, open] = useLocation();
  const reading = useMemo(() => readTemplate(draft.text), [draft.text]);
  const rendering = useRendering(draft.template, draft.values);
  const { attempt, save } = useSaveTemplate();
  const isDirty = name !== '' || draft !== first;
  const held = useLeaveGuard(isDirty);
  const keeping = useKeptDraft({
    place: PLACE,
    title: name === '' ? 'New control from a template' : `New control ${name} from a template`,
    value: keptTemplate({ name, text: draft.text, values: draft.values, version: null }),
    isDirty,
  });
  const { template, values } = draft;
  const isDraft = template !== undefined && missingLabels(template, values).length > 0;
  const canSave =
    name.trim() !== '' && template !== undefined && !('problem' in reading) && attempt.kind !== 'saving';
  const refused = attempt.kind === 'refused' ? attempt.problems : [];
  const submit = async (): Promise<void> => {
    if (!canSave) return;
    const saved = await save(() => createFromTemplate(name, { template, values }));
    if (saved === null) return;
    await keeping.discard();
    held.release();
    const warnings = saved.warnings.map(({ code, field, message }) => ({ code, field, message }));
    open(`/controls/${saved.controlId}/template`, { state: { isNew: true, warnings } });
  };
  return (
    <Page title="New from template" actions={<Link href="/templates/new">Other templates</Link>}>
      {held.isHeld && <LeaveDialog name={name} held={held} onDiscard={() => void keeping.discard()} />}
      <TemplateWorkbench
        draft={draft}
        reading={reading}
        rendering={rendering}
        refused={refused}
        isTemplateOpen={isOwn}
        onText={(text) => setDraft((old) => withText(old, text, readTemplate(text)))}
        onValues={(next) => setDraft((old) => ({ ...old, values: next }))}
        head={
          <NameField
            value={name}
            onChange={setName}
            problem={refused.find(({ path }) => path === 'name')?.message}
          />
        }
        actions={
          <>
            <div className="save-actions">
              <button type="button" className="primary" disabled={!canSave} onClick={submit}>
                {attempt.kind === 'saving' ? 'Saving…' : isDraft ? 'Save as draft' : 'Create control'}
              </button>
              <span className="muted">
                {isDraft
                  ? 'Values are missing. A draft checks nothing until they are filled in.'
                  : 'The control is on at once; it checks the agents that it is linked to.'}
              </span>
            </div>
            <SaveProblem attempt={attempt} />
          </>
        }
      />
    </Page>
  );
}
