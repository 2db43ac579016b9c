import type { JsonObject } from '@bufbuild/protobuf';
import { useMemo } from 'react';
import { isJsonObject, ownMember, withOwnMember } from '../code/json-members.js';
import { type FieldProblem, SchemaForm } from '../schema-form/schema-form.js';
import { ExpressionField } from './expression-field.js';
import type { ExpressionPlace } from './expression-place.js';

interface ConfigFormProps {
  /** Name of the evaluator. */
  readonly evaluator: string;
  readonly schema: JsonObject | undefined;
  readonly value: JsonObject;
  readonly onChange: (value: JsonObject) => void;
  /** Paths are relative to the configuration. */
  readonly problems: readonly FieldProblem[];
  readonly place: ExpressionPlace;
}

const EXPRESSION = 'expression';

/** The configuration of an evaluator: the form of its schema, and an editor for the expression of `cel`. */
export function ConfigForm(props: ConfigFormProps) {
  const { evaluator, schema, value, onChange, problems, place } = props;
  const label = `Configuration of ${evaluator}`;
  const rest = useMemo(() => withoutExpression(schema), [schema]);
  const expression = ownMember(value, EXPRESSION) ?? '';
  if (evaluator !== 'cel' || typeof expression !== 'string') {
    return <SchemaForm label={label} schema={schema} value={value} onChange={onChange} problems={problems} />;
  }
  const isOfExpression = ({ path }: FieldProblem) => path === EXPRESSION;
  return (
    <>
      <ExpressionField
        value={expression}
        onChange={(text) => onChange(withOwnMember(value, EXPRESSION, text))}
        place={place}
        messages={problems.filter(isOfExpression).map(({ message }) => message)}
      />
      <SchemaForm
        label={label}
        schema={rest}
        value={withOwnMember(value, EXPRESSION, undefined)}
        onChange={(others) => onChange({ [EXPRESSION]: expression, ...others })}
        problems={problems.filter((problem) => !isOfExpression(problem))}
      />
    </>
  );
}

/** The schema of the other members. */
function withoutExpression(schema: JsonObject | undefined): JsonObject | undefined {
  if (!isJsonObject(schema?.properties)) return schema;
  const { required } = schema;
  return {
    ...schema,
    properties: withOwnMember(schema.properties, EXPRESSION, undefined),
    ...(Array.isArray(required) ? { required: required.filter((name) => name !== EXPRESSION) } : {}),
  };
}
