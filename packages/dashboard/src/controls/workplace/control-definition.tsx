import type { GetControlResponse } from '@gen/enforcement/v1/control_service_pb.js';
import { Link } from 'wouter';
import { ControlWarnings } from '../../control-parts/control-warnings.js';
import { DefinitionView } from '../../control-parts/definition-view.js';
import { useMay } from '../../session/session-context.js';
import { Empty } from '../../ui/states.js';

/** The definition of a control in words, or why there is none. */
export function ControlDefinitionView({ control: { id, data } }: { readonly control: GetControlResponse }) {
  const mayChange = useMay('controls.write');
  if (data === undefined) {
    return (
      <Empty title="The stored definition cannot be read">
        <p>The control is evaluated as an error until its definition is replaced.</p>
      </Empty>
    );
  }
  const isDraft = data.template !== undefined && data.condition === undefined;
  return (
    <>
      {data.template !== undefined && (
        <p className="notice">
          {isDraft
            ? 'A draft: its template has parameters without a value, so it checks nothing. '
            : 'Made from a template. '}
          <Link href={`/controls/${id}/template`}>Values of the template</Link>
        </p>
      )}
      <ControlWarnings controlId={id} data={data} />
      {!isDraft && (
        <DefinitionView
          data={data}
          editedControl={mayChange && data.template === undefined ? id : undefined}
        />
      )}
    </>
  );
}
