import type { JsonObject } from '@bufbuild/protobuf';
import { numberOf } from '../ui/numbers.js';
import { UserText } from '../ui/user-text.js';
import { schemaMembers, schemaType } from './schema-members.js';
import './agents.css';

interface SchemaDetailsProps {
  /** What the schema describes, for example `input`. */
  readonly what: string;
  readonly schema: JsonObject | undefined;
}

/** A JSON Schema as a list of its members, and as JSON. */
export function SchemaDetails({ what, schema }: SchemaDetailsProps) {
  if (schema === undefined || Object.keys(schema).length === 0) {
    return <span className="muted">no {what} schema</span>;
  }
  const members = schemaMembers(schema);
  return (
    <details className="schema">
      <summary>
        {what}: {members.length === 0 ? schemaType(schema) : numberOf(members.length, 'member')}
      </summary>
      {members.length > 0 && (
        <ul>
          {members.map(({ path, type, isRequired, description }) => (
            <li key={path}>
              <code>
                <UserText text={path} />
              </code>{' '}
              <UserText text={type} max={80} />
              {isRequired && <strong> required</strong>}
              {description !== undefined && (
                <span className="muted" dir="auto">
                  {' '}
                  {description}
                </span>
              )}
            </li>
          ))}
        </ul>
      )}
      <details>
        <summary>JSON Schema</summary>
        <pre className="code">{JSON.stringify(schema, null, 2)}</pre>
      </details>
    </details>
  );
}
