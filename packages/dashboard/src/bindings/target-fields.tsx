import { useQuery } from '@connectrpc/connect-query';
import { ControlBindingService } from '@gen/enforcement/v1/control_binding_service_pb.js';
import { useMay } from '../session/session-context.js';
import { SuggestField } from '../ui/fields/fields.js';

/** Latest bindings whose targets are suggested. */
const LATEST = 100;

/** A target as it is typed. */
export interface TypedTarget {
  readonly type: string;
  readonly id: string;
}

interface TargetFieldsProps {
  readonly target: TypedTarget;
  readonly onChange: (target: TypedTarget) => void;
}

/** Two fields for a target, which suggest those that have bindings. */
export function TargetFields({ target, onChange }: TargetFieldsProps) {
  const mayRead = useMay('bindings.read');
  const { data } = useQuery(
    ControlBindingService.method.listControlBindings,
    { limit: LATEST },
    { enabled: mayRead },
  );
  const known = data?.bindings ?? [];
  const types = new Set(known.map(({ targetType }) => targetType));
  const ids = new Set(
    known
      .filter(({ targetType }) => target.type === '' || targetType === target.type)
      .map((one) => one.targetId),
  );
  return (
    <>
      <SuggestField
        label="Type of the target"
        value={target.type}
        suggestions={[...types].sort().map((type) => [type, type])}
        onChange={(type) => onChange({ ...target, type })}
      />
      <SuggestField
        label="Id of the target"
        value={target.id}
        suggestions={[...ids].sort().map((id) => [id, id])}
        onChange={(id) => onChange({ ...target, id })}
      />
    </>
  );
}
