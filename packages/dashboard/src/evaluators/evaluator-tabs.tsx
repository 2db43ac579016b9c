import type { JsonObject } from '@bufbuild/protobuf';
import type { ReactNode } from 'react';
import { JsonView } from '../code/json-view.js';
import { CopyButton } from '../ui/copy-button.js';
import { AddressTabs } from '../ui/page/address-tabs.js';
import type { Tab } from '../ui/page/tabs.js';
import { Empty } from '../ui/states.js';
import type { Columns } from '../ui/table/columns.js';
import { Table } from '../ui/table/table.js';
import { UserText } from '../ui/user-text.js';
import { type ConfigMember, configMembers } from './config-members.js';
import { exampleDefinition, startingPoint } from './starting-points.js';

const COLUMNS: Columns<ConfigMember> = [
  {
    head: 'Member',
    cell: ({ path }) => (
      <code>
        <UserText text={path} />
      </code>
    ),
  },
  { head: 'Type', className: 'wrapped', dir: 'auto', cell: ({ type }) => type },
  { head: 'Required', cell: ({ isRequired }) => (isRequired ? 'required' : '') },
  { head: 'Default', cell: ({ fallback }) => <UserText text={fallback === '' ? '–' : fallback} max={30} /> },
  { head: 'Description', className: 'wrapped', dir: 'auto', cell: ({ description }) => description },
];

interface EvaluatorTabsProps {
  /** As a definition names it. */
  readonly name: string;
  readonly schema: JsonObject | undefined;
  /** Undefined: the viewer cannot test it. */
  readonly testBox: ReactNode | undefined;
}

/** Test box, configuration and example of an evaluator. */
export function EvaluatorTabs({ name, schema = {}, testBox }: EvaluatorTabsProps) {
  const tabs: readonly Tab[] = [
    ...(testBox === undefined ? [] : [{ id: 'try', name: 'Try it', content: testBox }]),
    { id: 'configuration', name: 'Configuration', content: <Members schema={schema} /> },
    {
      id: 'schema',
      name: 'JSON Schema',
      content: <JsonView text={JSON.stringify(schema, null, 2)} label="JSON Schema of the configuration" />,
    },
    { id: 'example', name: 'Example', content: <Example name={name} schema={schema} /> },
  ];
  return <AddressTabs label="Evaluator" tabs={tabs} />;
}

function Members({ schema }: { readonly schema: JsonObject }) {
  return (
    <Table
      label="Configuration"
      columns={COLUMNS}
      rows={configMembers(schema)}
      keyOf={({ path }) => path}
      empty={<Empty title="The schema describes no members" />}
    />
  );
}

function Example({ name, schema }: { readonly name: string; readonly schema: JsonObject }) {
  const text = JSON.stringify(exampleDefinition(name, startingPoint(name, schema)), null, 2);
  return (
    <>
      <p>The definition of a control that denies steps by this evaluator:</p>
      <JsonView text={text} label="Example of a definition" />
      <p>
        <CopyButton label="Copy the example" text={text} />
      </p>
    </>
  );
}
