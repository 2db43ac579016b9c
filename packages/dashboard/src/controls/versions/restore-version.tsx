import type { Warning } from '@gen/enforcement/v1/control_pb.js';
import {
  ControlService,
  type ControlSnapshot,
  type GetControlResponse,
} from '@gen/enforcement/v1/control_service_pb.js';
import { memberChanges } from '../../control-parts/definition-changes.js';
import { OwnedNote } from '../../control-parts/owned-note.js';
import { useUsageText } from '../../control-parts/use-control-usage.js';
import { useChange } from '../../data/use-change.js';
import { useMay } from '../../session/session-context.js';
import { ConfirmButton } from '../../ui/confirm-button.js';
import { numberOf } from '../../ui/numbers.js';
import { ChangeLines } from './change-list.js';
import { versionValue } from './version-value.js';

/** A version that was restored. */
export interface Restored {
  readonly versionNum: number;
  /** Number of the version that has its content now. */
  readonly newVersionNum: number;
  readonly warnings: readonly Warning[];
}

interface RestoreVersionProps {
  readonly control: GetControlResponse;
  readonly versionNum: number;
  readonly snapshot: ControlSnapshot;
  readonly onRestored: (restored: Restored) => void;
}

/** Restores a version, after a confirmation that says what changes and for whom. Nothing for regular keys. */
export function RestoreVersion({ control, versionNum, snapshot, onRestored }: RestoreVersionProps) {
  const mayChange = useMay('controls.write');
  const usage = useUsageText(control.id);
  const restore = useChange(ControlService.method.restoreControlVersion, (reply) =>
    onRestored({ versionNum, newVersionNum: reply.versionNum, warnings: reply.warnings }),
  );
  const changes = memberChanges(versionValue(control), versionValue(snapshot));
  if (!mayChange || snapshot.data === undefined || changes.length === 0) return null;
  return (
    <ConfirmButton
      verb="Restore"
      object={`version ${versionNum}`}
      label={`Restore version ${versionNum}`}
      change={restore}
      onConfirm={() => restore.mutateAsync({ controlId: control.id, versionNum, ifVersion: control.version })}
    >
      <p>
        A new version of <bdi>{control.name}</bdi> gets the content of version {versionNum}. It is used by{' '}
        {usage}; their steps are checked by it at once.
      </p>
      <OwnedNote what="control" owner={control.owner} />
      <p>
        Compared with now, {numberOf(changes.length, 'member')} {changes.length === 1 ? 'changes' : 'change'}:
      </p>
      <ChangeLines changes={changes} label={`Changes by restoring version ${versionNum}`} />
    </ConfirmButton>
  );
}
