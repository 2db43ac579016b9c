import { useQuery } from '@connectrpc/connect-query';
import { ControlService, type ControlVersion } from '@gen/enforcement/v1/control_service_pb.js';
import { Link } from 'wouter';
import { dashboardPath } from '../data/rest-address.js';
import { Dialog } from '../ui/dialog.js';
import type { HeldNavigation } from '../ui/page/leave-guard.js';
import { QueryState } from '../ui/states.js';
import { TimeText } from '../ui/time-text.js';
import { UserText } from '../ui/user-text.js';
import type { SavedOutcome, StoredControl } from './use-save.js';

interface LeaveDialogProps {
  readonly name: string;
  readonly held: HeldNavigation;
  /** Forgets the draft of the changes. */
  readonly onDiscard: () => void;
}

/** Asks before unsaved changes are lost. */
export function LeaveDialog({ name, held, onDiscard }: LeaveDialogProps) {
  return (
    <Dialog
      title="Leave without saving?"
      onClose={held.stay}
      actions={
        <>
          <button type="button" onClick={held.stay}>
            Keep editing
          </button>
          <button
            type="button"
            className="primary"
            onClick={() => {
              onDiscard();
              held.leave();
            }}
          >
            Discard the changes of <bdi>{name === '' ? 'the new control' : name}</bdi>
          </button>
        </>
      }
    >
      <p>Discarded changes are kept nowhere, not as a draft either.</p>
    </Dialog>
  );
}

interface ConflictDialogProps {
  readonly control: StoredControl;
  readonly name: string;
  readonly currentVersion: bigint;
  readonly onOverwrite: () => void;
  readonly onTakeTheirs: () => void;
  readonly onClose: () => void;
}

const MAX_VERSIONS = 20;

/** Says who has changed the control in the meantime, and lets the writer choose. */
export function ConflictDialog(props: ConflictDialogProps) {
  const { control, name, currentVersion, onOverwrite, onTakeTheirs, onClose } = props;
  const versions = useQuery(
    ControlService.method.listControlVersions,
    { controlId: control.controlId, limit: MAX_VERSIONS },
    { staleTime: 0 },
  );
  return (
    <Dialog
      title={
        <>
          <bdi>{name}</bdi> was changed in the meantime
        </>
      }
      onClose={onClose}
      actions={
        <>
          <button type="button" onClick={onClose}>
            Keep editing
          </button>
          <button type="button" onClick={onTakeTheirs}>
            Take their version
          </button>
          <button type="button" className="primary" onClick={onOverwrite}>
            Overwrite version {String(currentVersion)}
          </button>
        </>
      }
    >
      <p>You started from version {String(control.version)}. Since then:</p>
      <QueryState query={versions} what="versions">
        {(page) => (
          <ol className="timeline">
            {page.versions
              .filter(({ versionNum }) => BigInt(versionNum) > control.version)
              .map((version) => (
                <ChangedSince key={version.versionNum} version={version} />
              ))}
          </ol>
        )}
      </QueryState>
      <p>
        <a
          href={`${dashboardPath}/controls/${control.controlId}?tab=versions`}
          target="_blank"
          rel="noreferrer"
        >
          See their version in a new tab
        </a>
      </p>
      <p className="muted">
        Overwritten versions stay in the list of versions. Taking theirs can be undone here.
      </p>
    </Dialog>
  );
}

function ChangedSince({ version }: { readonly version: ControlVersion }) {
  const { versionNum, eventType, createdAt, keyFingerprint, changedMembers, note } = version;
  return (
    <li>
      <strong>Version {versionNum}</strong> · {eventType} · <TimeText time={createdAt} />
      <br />
      <span className="muted">
        {keyFingerprint === undefined ? 'without a key' : `by the key ${keyFingerprint}`}
        {changedMembers.length > 0 && `, changed: ${changedMembers.join(', ')}`}
        {note !== undefined && (
          <>
            {', '}
            <UserText text={note} />
          </>
        )}
      </span>
    </li>
  );
}

interface SavedNoticeProps {
  readonly outcome: SavedOutcome;
  readonly linkTo: string;
  readonly onDismiss: () => void;
}

/** The warnings of a saved control, until they are dismissed. */
export function SavedNotice({
  outcome: { controlId, warnings, linkProblem },
  linkTo,
  onDismiss,
}: SavedNoticeProps) {
  return (
    <section className="notice saved-notice" role="status" aria-label="Saved">
      <p>
        <strong>Saved.</strong> <Link href={`/controls/${controlId}`}>Open the control</Link>
      </p>
      {linkProblem !== null && (
        <p className="problem">
          It could not be linked
          {linkTo !== '' && (
            <>
              {' '}
              to <UserText text={linkTo} />
            </>
          )}
          : {linkProblem}
        </p>
      )}
      {warnings.length > 0 && (
        <ul>
          {warnings.map(({ field, message }) => (
            <li key={`${field} ${message}`}>
              <code>{field}</code>: <span dir="auto">{message}</span>
            </li>
          ))}
        </ul>
      )}
      <button type="button" onClick={onDismiss}>
        Dismiss
      </button>
    </section>
  );
}
