import type { ControlDefinition } from '@gen/enforcement/v1/control_pb.js';
import { JsonView } from '../code/json-view.js';
import { definitionJson } from '../control-parts/definition-json.js';
import { DefinitionView } from '../control-parts/definition-view.js';
import type { FieldViolation } from '../data/field-violations.js';
import { Disclosure } from '../ui/disclosure.js';
import { ErrorState } from '../ui/states.js';
import type { Rendering } from './use-rendering.js';

interface TemplatePreviewProps {
  readonly rendering: Rendering;
  /** Problems that belong to no value. */
  readonly problems: readonly FieldViolation[];
  /** Labels of the parameters without a value. */
  readonly missing: readonly string[];
  readonly hasTemplate: boolean;
}

/** The definition that a template gives, as the server renders it. */
export function TemplatePreview({ rendering, problems, missing, hasTemplate }: TemplatePreviewProps) {
  const { definition, warnings, failure, isStale, retry } = rendering;
  return (
    <section className="card workbench-preview" aria-label="Preview" aria-live="polite" aria-busy={isStale}>
      <h2>Preview</h2>
      {failure !== null && <ErrorState error={failure} onRetry={retry} />}
      {problems.length > 0 && (
        <ul className="problem">
          {problems.map(({ path, message }) => (
            <li key={`${path} ${message}`} dir="auto">
              {path !== '' && <code>{path}</code>} {message}
            </li>
          ))}
        </ul>
      )}
      {warnings.map(({ field, code, message }) => (
        <p key={`${field} ${code}`} className="notice" dir="auto">
          <code>{field}</code>: {message}
        </p>
      ))}
      {missing.length > 0 && (
        <p>
          The definition appears when these have a value:{' '}
          {missing.map((label, index) => (
            <span key={label}>
              {index > 0 && ', '}
              <strong dir="auto">{label}</strong>
            </span>
          ))}
          .
        </p>
      )}
      {rendering.problems.length > 0 && problems.length < rendering.problems.length && (
        <p>A value is not accepted: see the problem at its field.</p>
      )}
      {definition !== undefined && <Definition definition={definition} />}
      {definition === undefined && hasTemplate && missing.length === 0 && isStale && (
        <p className="muted">Rendering…</p>
      )}
    </section>
  );
}

function Definition({ definition }: { readonly definition: ControlDefinition }) {
  const { template: _template, templateValues: _values, ...rendered } = definition;
  return (
    <>
      <DefinitionView data={definition} />
      <Disclosure summary="As JSON">
        <JsonView text={definitionJson(rendered)} label="Definition as JSON" />
      </Disclosure>
    </>
  );
}
