import { useQuery } from '@connectrpc/connect-query';
import { ControlService, type GetControlResponse } from '@gen/enforcement/v1/control_service_pb.js';
import { DraftGate } from '../drafts/draft-gate.js';
import { useMay } from '../session/session-context.js';
import { ByNumber } from '../ui/page/by-number.js';
import { Page } from '../ui/page/page.js';
import { useAddressFilter } from '../ui/page/use-address-filter.js';
import { Loading, QueryState } from '../ui/states.js';
import { Editor } from './editor.js';
import { editorPlace, readEditorDraft } from './editor-draft.js';
import { AdminOnly, FromTemplate } from './editor-notices.js';
import { type EditorState, editorReducer, loadedState, newDraft } from './editor-state.js';
import type { JsonObject } from './json.js';
import { nodePathOf } from './problem-place.js';
import { draftOf, withoutTemplate } from './stored-draft.js';
import type { SaveOutcome } from './use-save.js';

/** The draft was loaded once and is changed from then on: it is not loaded again behind the back of the writer. */
const READ_ONCE = { staleTime: Number.POSITIVE_INFINITY, refetchOnMount: 'always', retry: false } as const;

/** Edits a stored control, from its current definition or from an older version. */
export default function EditControlPage() {
  const mayChange = useMay('controls.write');
  const { parameters } = useAddressFilter();
  const version = parameters.get('version');
  if (!mayChange) return <AdminOnly title="Edit" />;
  return (
    <ByNumber what="A control">
      {(id) => <LoadedControl key={`${id} ${version}`} controlId={id} versionNum={Number(version ?? 0)} />}
    </ByNumber>
  );
}

interface LoadedControlProps {
  readonly controlId: number;
  /** 0: the current version. */
  readonly versionNum: number;
}

function LoadedControl({ controlId, versionNum }: LoadedControlProps) {
  const { parameters } = useAddressFilter();
  const control = useQuery(ControlService.method.getControl, { controlId }, READ_ONCE);
  const version = useQuery(
    ControlService.method.getControlVersion,
    { controlId, versionNum },
    { ...READ_ONCE, enabled: versionNum > 0 },
  );
  const needed = versionNum > 0 ? [control, version] : [control];
  const missing = needed.find(({ data, isFetchedAfterMount }) => data === undefined || !isFetchedAfterMount);
  if (control.data === undefined || missing !== undefined) {
    return (
      <Page title="Edit">
        {missing?.error ? (
          <QueryState query={{ ...missing, data: undefined }} what="the control">
            {() => null}
          </QueryState>
        ) : (
          <Loading what="the control" />
        )}
      </Page>
    );
  }
  if (control.data.data?.template !== undefined) {
    return <FromTemplate controlId={controlId} name={control.data.name} />;
  }
  const older = versionNum > 0 ? draftOf(version.data?.snapshot?.data) : null;
  return <StoredEditor control={control.data} older={older} node={parameters.get('node')} />;
}

interface StoredEditorProps {
  readonly control: GetControlResponse;
  /** The definition to start from, if it is not the current one. */
  readonly older: JsonObject | null;
  /** Path of the node to select, for example `and[0].not`. */
  readonly node: string | null;
}

function StoredEditor({ control, older, node }: StoredEditorProps) {
  const { id, name, version, data, owner } = control;
  const draft = draftOf(data);
  const saved = { control: { controlId: id, version }, name, draft: draft ?? {} };
  return (
    <>
      {draft === null && (
        <p className="notice">
          The stored definition cannot be read. Saving replaces it by what is written here.
        </p>
      )}
      <DraftGate
        place={editorPlace(id)}
        read={readEditorDraft}
        note={(kept) => kept.version !== null && kept.version !== version && <Outdated version={version} />}
      >
        {(kept) =>
          kept === null ? (
            <Editor
              saved={saved}
              start={startOf(name, draft ?? newDraft(), older, node)}
              linkTo=""
              owner={owner}
              before={savedBefore()}
            />
          ) : (
            <Editor
              // Saving asks who wins if the control has a newer version than the one that the draft started from.
              saved={{ ...saved, control: { controlId: id, version: kept.version ?? version } }}
              start={loadedState(kept.name, kept.draft)}
              linkTo=""
              owner={owner}
            />
          )
        }
      </DraftGate>
    </>
  );
}

function Outdated({ version }: { readonly version: bigint }) {
  return (
    <p>
      The control was changed since: it has version {String(version)} now. Saving the draft asks which of the
      two counts.
    </p>
  );
}

/** What the page that created the control says about it. */
function savedBefore(): SaveOutcome {
  const { saved } = (window.history.state ?? {}) as { saved?: SaveOutcome };
  return saved ?? { kind: 'none' };
}

function startOf(
  name: string,
  draft: JsonObject,
  older: JsonObject | null,
  node: string | null,
): EditorState {
  const selected = node === null ? null : nodePathOf(older ?? draft, node);
  const current = loadedState(name, draft, selected);
  return older === null
    ? current
    : editorReducer(current, { type: 'replace', draft: withoutTemplate(older) });
}
