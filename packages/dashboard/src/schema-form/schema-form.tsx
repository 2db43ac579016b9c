import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import { useMemo, useState } from 'react';
import { isJsonObject } from '../code/json-members.js';
import { Field } from './field.js';
import { FormsProvider } from './field-context.js';
import type { FieldProblem } from './field-problems.js';
import { formOf } from './form-of.js';
import { JsonField } from './json-field.js';
import './schema-form.css';

export type { FieldProblem } from './field-problems.js';

interface SchemaFormProps {
  /** JSON Schema of the value: draft 7 or 2020-12. Undefined: any object. */
  readonly schema: JsonObject | undefined;
  readonly value: JsonObject;
  readonly onChange: (value: JsonObject) => void;
  /** Paths are relative to the value, for example `values[0]`. */
  readonly problems: readonly FieldProblem[];
  /** What the value is, for example `Configuration of regex`. */
  readonly label: string;
}

const ANY_OBJECT: JsonObject = { type: 'object' };

/**
 * A form for the values of a JSON Schema. Members that the schema does not describe are kept, defaults are shown and
 * not written, and what no field can express is edited as JSON.
 */
export function SchemaForm({ schema, value, onChange, problems, label }: SchemaFormProps) {
  const root = schema ?? ANY_OBJECT;
  const [isJson, setIsJson] = useState(false);
  const forms = useMemo(() => ({ root, Field }), [root]);
  const form = useMemo(() => formOf(root, root), [root]);
  const isExpressible = form.kind === 'object' || form.kind === 'choice';
  const change = (next: JsonValue | undefined): void => {
    if (isJsonObject(next)) onChange(next);
  };
  const field = { label, value, onChange: change, problems, isRequired: true, isCompact: true };
  return (
    <FormsProvider value={forms}>
      <div className="schema-form">
        {isExpressible && (
          <div className="schema-form-mode">
            <button type="button" className="quiet" aria-pressed={isJson} onClick={() => setIsJson(!isJson)}>
              As JSON
            </button>
          </div>
        )}
        {isJson || !isExpressible ? (
          <JsonField {...field} form={{ kind: 'json', isNullable: false }} />
        ) : (
          <Field {...field} form={form.kind === 'object' ? { ...form, isNullable: false } : form} />
        )}
      </div>
    </FormsProvider>
  );
}
