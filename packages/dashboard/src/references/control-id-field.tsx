import { useQuery } from '@connectrpc/connect-query';
import { ControlService } from '@gen/enforcement/v1/control_service_pb.js';
import { useDebounced } from '../ui/browser/use-debounced.js';
import { SuggestField } from '../ui/fields/fields.js';

const MAX_SUGGESTIONS = 20;

interface ControlIdFieldProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** A field for the id of a control, which suggests ids by name. */
export function ControlIdField({ value, onChange }: ControlIdFieldProps) {
  const typed = useDebounced(value.trim());
  const isName = !/^[-\d, ]*$/.test(typed);
  const { data } = useQuery(ControlService.method.listControls, {
    limit: MAX_SUGGESTIONS,
    ...(isName ? { name: typed } : {}),
  });
  const suggestions = (data?.controls ?? []).map(({ id, name }) => [String(id), name] as const);
  return <SuggestField label="Control id" value={value} onChange={onChange} suggestions={suggestions} />;
}
