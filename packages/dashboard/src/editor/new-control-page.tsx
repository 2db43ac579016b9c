import { useQuery } from '@connectrpc/connect-query';
import { ControlService } from '@gen/enforcement/v1/control_service_pb.js';
import { DraftGate } from '../drafts/draft-gate.js';
import { useMay } from '../session/session-context.js';
import { Page } from '../ui/page/page.js';
import { useAddressFilter } from '../ui/page/use-address-filter.js';
import { Empty, QueryState } from '../ui/states.js';
import { Editor } from './editor.js';
import { editorPlace, readEditorDraft } from './editor-draft.js';
import { AdminOnly } from './editor-notices.js';
import { loadedState, newDraft } from './editor-state.js';
import type { JsonObject } from './json.js';
import { draftOf, withoutTemplate } from './stored-draft.js';

/** Writes a new control, from the beginning or from a copy of another one. */
export default function NewControlPage() {
  const mayChange = useMay('controls.write');
  const { parameters } = useAddressFilter();
  const copyOf = parameters.get('copy');
  const linkTo = parameters.get('agent') ?? '';
  if (!mayChange) return <AdminOnly title="New control" />;
  if (copyOf !== null) return <CopyEditor key={copyOf} controlId={Number(copyOf)} linkTo={linkTo} />;
  return <NewEditor name="" draft={newDraft()} linkTo={linkTo} />;
}

interface NewEditorProps {
  readonly name: string;
  readonly draft: JsonObject;
  readonly linkTo: string;
}

function NewEditor({ name, draft, linkTo }: NewEditorProps) {
  return (
    <DraftGate place={editorPlace(null)} read={readEditorDraft}>
      {(kept) => (
        <Editor
          saved={{ control: null, name, draft }}
          start={kept === null ? loadedState(name, draft) : loadedState(kept.name, kept.draft)}
          linkTo={kept?.linkTo ?? linkTo}
        />
      )}
    </DraftGate>
  );
}

function CopyEditor({ controlId, linkTo }: { readonly controlId: number; readonly linkTo: string }) {
  const query = useQuery(ControlService.method.getControl, { controlId });
  if (query.data === undefined) {
    return (
      <Page title="New control">
        <QueryState query={query} what="the control to copy">
          {() => null}
        </QueryState>
      </Page>
    );
  }
  const draft = draftOf(query.data.data);
  if (draft?.condition === undefined) {
    return <Empty title="This control has no definition that can be copied" />;
  }
  return <NewEditor name={`${query.data.name}-copy`} draft={withoutTemplate(draft)} linkTo={linkTo} />;
}
