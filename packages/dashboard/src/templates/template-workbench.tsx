import type { JsonObject } from '@bufbuild/protobuf';
import type { ControlTemplate } from '@gen/enforcement/v1/control_pb.js';
import { lazy, type ReactNode, Suspense } from 'react';
import { type FieldViolation, violationsBelow } from '../data/field-violations.js';
import { SchemaForm } from '../schema-form/schema-form.js';
import { Disclosure } from '../ui/disclosure.js';
import { Loading } from '../ui/states.js';
import { keptValues, missingLabels, type TemplateReading, valuesSchema } from './template-model.js';
import { TemplatePreview } from './template-preview.js';
import type { Rendering } from './use-rendering.js';
import './templates.css';

const TemplateEditor = lazy(() => import('./template-editor.js'));

/** A template and its values while they are edited. */
export interface TemplateDraft {
  /** The template as JSON text, valid or not. */
  readonly text: string;
  /** The template that the text was last, as long as it was valid. */
  readonly template: ControlTemplate | undefined;
  readonly values: JsonObject;
}

/** The draft with another text of its template. Values of parameters that are gone are dropped. */
export function withText(draft: TemplateDraft, text: string, reading: TemplateReading): TemplateDraft {
  if ('problem' in reading) return { ...draft, text };
  const { template } = reading;
  return { text, template, values: keptValues(template, { ...reading.values, ...draft.values }) };
}

interface TemplateWorkbenchProps {
  readonly draft: TemplateDraft;
  readonly reading: TemplateReading;
  readonly rendering: Rendering;
  /** What the server refused when it was saved. */
  readonly refused: readonly FieldViolation[];
  readonly onText: (text: string) => void;
  readonly onValues: (values: JsonObject) => void;
  /** Above the values: the name of a new control. */
  readonly head?: ReactNode;
  /** Below the values: what saves. */
  readonly actions: ReactNode;
  readonly isTemplateOpen: boolean;
}

/** Values of a template, the template itself, and what it gives. */
export function TemplateWorkbench(props: TemplateWorkbenchProps) {
  const { draft, reading, rendering, refused, onText, onValues, head, actions, isTemplateOpen } = props;
  const { template, values, text } = draft;
  const problems = distinct([...rendering.problems, ...refused]);
  const ofValues = violationsBelow(problems, 'template_values');
  const others = problems.filter(({ path }) => !path.startsWith('template_values') && path !== 'name');
  return (
    <div className="workbench">
      <div className="workbench-side">
        <section className="card" aria-label="Values">
          <h2>Values</h2>
          {template?.description !== undefined && <p dir="auto">{template.description}</p>}
          {head}
          {template === undefined ? (
            <p className="muted">The form appears when the template below is valid.</p>
          ) : (
            <Values template={template} values={values} problems={ofValues} onChange={onValues} />
          )}
          {actions}
        </section>
        <Disclosure summary="The template" isOpenAtFirst={isTemplateOpen} className="card">
          <p className="muted">
            A definition with references such as <code>{'{"$param": "words"}'}</code> and the parameters that
            fill them: texts, lists of texts, patterns, choices, and yes or no.
          </p>
          <Suspense fallback={<Loading what="the editor" />}>
            <TemplateEditor text={text} onChange={onText} />
          </Suspense>
          {'problem' in reading && (
            <p className="problem" role="alert">
              {reading.problem} The form and the preview stay as they were.
            </p>
          )}
        </Disclosure>
      </div>
      <TemplatePreview
        rendering={rendering}
        problems={others}
        missing={template === undefined ? [] : missingLabels(template, values)}
        hasTemplate={template !== undefined}
      />
    </div>
  );
}

function distinct(violations: readonly FieldViolation[]): FieldViolation[] {
  return [...new Map(violations.map((one) => [`${one.path}\n${one.message}`, one])).values()];
}

interface ValuesProps {
  readonly template: ControlTemplate;
  readonly values: JsonObject;
  readonly problems: readonly FieldViolation[];
  readonly onChange: (values: JsonObject) => void;
}

function Values({ template, values, problems, onChange }: ValuesProps) {
  if (Object.keys(template.parameters).length === 0) {
    return <p className="muted">The template has no parameters.</p>;
  }
  return (
    <SchemaForm
      label="Values of the template"
      schema={valuesSchema(template)}
      value={values}
      onChange={onChange}
      problems={problems}
    />
  );
}
