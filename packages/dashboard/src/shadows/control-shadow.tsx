import { Code, ConnectError } from '@connectrpc/connect';
import { useQuery } from '@connectrpc/connect-query';
import type { Warning } from '@gen/enforcement/v1/control_pb.js';
import { ShadowService } from '@gen/enforcement/v1/shadow_service_pb.js';
import { useState } from 'react';
import { Link } from 'wouter';
import { useMay } from '../session/session-context.js';
import { Empty, QueryState } from '../ui/states.js';
import { Warnings } from '../ui/warnings.js';
import { ShadowComparison } from './shadow-comparison.js';

const REFRESH_MS = 5_000;

interface ControlShadowProps {
  readonly controlId: number;
  /** Who applies the control as configuration. */
  readonly owner: string | undefined;
}

/** The shadow of a control, or how it gets one. */
export function ControlShadow(props: ControlShadowProps) {
  // Those of a promotion, after which there is no shadow.
  const [warnings, setWarnings] = useState<readonly Warning[]>([]);
  return (
    <>
      <Warnings warnings={warnings} />
      <ShadowOrNone {...props} onPromoted={setWarnings} />
    </>
  );
}

interface ShadowOrNoneProps extends ControlShadowProps {
  readonly onPromoted: (warnings: readonly Warning[]) => void;
}

function ShadowOrNone({ controlId, owner, onPromoted }: ShadowOrNoneProps) {
  const mayChange = useMay('controls.write');
  const query = useQuery(
    ShadowService.method.getShadow,
    { controlId },
    { refetchInterval: REFRESH_MS, retry: false },
  );
  if (query.error !== null && ConnectError.from(query.error).code === Code.NotFound) {
    return (
      <Empty title="This control has no shadow">
        <p>
          A shadow is a proposed version, which is evaluated beside the control and never decides.
          {mayChange && (
            <>
              {' '}
              <Link href={`/controls/${controlId}/edit`}>Change the control in the editor</Link>, and set the
              change as its shadow instead of saving it.
            </>
          )}
        </p>
      </Empty>
    );
  }
  return (
    <QueryState query={query} what="the shadow">
      {({ shadow }) =>
        shadow !== undefined && <ShadowComparison shadow={shadow} owner={owner} onPromoted={onPromoted} />
      }
    </QueryState>
  );
}
