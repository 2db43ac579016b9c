import type { GetControlResponse } from '@gen/enforcement/v1/control_service_pb.js';
import { Link } from 'wouter';
import { definitionJson } from '../control-parts/definition-json.js';
import { useMay } from '../session/session-context.js';
import { ActionMenu } from '../ui/action-menu.js';
import { saveBlob } from '../ui/browser/save-blob.js';
import { ControlSwitch } from './control-switch.js';
import { DeleteControl } from './delete-control.js';

interface ControlActionsProps {
  readonly controlId: number;
  /** Absent if it is not loaded, or deleted. */
  readonly control: GetControlResponse | undefined;
}

/** What can be done with a control: the usual at hand, the rest in a menu. */
export function ControlActions({ controlId, control }: ControlActionsProps) {
  const mayChange = useMay('controls.write');
  const mayReadApprovals = useMay('approvals.read');
  return (
    <span className="links">
      {mayChange && control !== undefined && (
        <>
          <Link className="action" href={`/controls/${controlId}/edit`} data-shortcut="e">
            Edit
          </Link>
          <ControlSwitch control={control} />
        </>
      )}
      <ActionMenu label="More">
        <Link href={`/events?control=${controlId}`}>Events</Link>
        {mayReadApprovals && <Link href={`/approvals?tab=history&control=${controlId}`}>Approvals</Link>}
        <Link href={`/controls/${controlId}?tab=versions`}>
          {mayChange && control !== undefined ? 'Versions, to restore one' : 'Versions'}
        </Link>
        {control?.data !== undefined && <ExportJson control={control} />}
        {mayChange && control !== undefined && (
          <>
            <Link href={`/controls/new?copy=${controlId}`}>Duplicate</Link>
            <hr />
            <div className="dangerous">
              <DeleteControl control={control} />
            </div>
          </>
        )}
      </ActionMenu>
    </span>
  );
}

/** Saves the definition as a file. */
function ExportJson({ control: { id, data } }: { readonly control: GetControlResponse }) {
  if (data === undefined) return null;
  const save = (): void => {
    saveBlob(new Blob([definitionJson(data)], { type: 'application/json' }), `control-${id}.json`);
  };
  return (
    <button type="button" onClick={save}>
      Export as JSON
    </button>
  );
}
