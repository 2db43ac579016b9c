import type { JsonObject } from '@bufbuild/protobuf';
import type { ReactNode } from 'react';
import { JsonView } from '../code/json-view.js';
import { CopyButton } from '../ui/copy-button.js';
import { type Tab, Tabs } from '../ui/page/tabs.js';
import { useAddressFilter } from '../ui/page/use-address-filter.js';
import { Empty } from '../ui/states.js';
import { Table } from '../ui/table/table.js';
import { UserText } from '../ui/user-text.js';
import { type ConfigMember, configMembers } from './config-members.js';
import { exampleDefinition, startingPoint } from './starting-points.js';

const COLUMNS = ['Member', 'Type', 'Required', 'Default', 'Description'];

interface EvaluatorTabsProps {
  /** As a definition names it. */
  readonly name: string;
  readonly schema: JsonObject | undefined;
  /** Undefined: the viewer cannot test it. */
  readonly testBox: ReactNode | undefined;
}

/** Test box, configuration and example of an evaluator. */
export function EvaluatorTabs({ name, schema = {}, testBox }: EvaluatorTabsProps) {
  const [filters, setFilter] = useAddressFilter();
  const tabs: readonly Tab[] = [
    ...(testBox === undefined ? [] : [{ id: 'try', name: 'Try it', content: testBox }]),
    { id: 'configuration', name: 'Configuration', content: <Members members={configMembers(schema)} /> },
    {
      id: 'schema',
      name: 'JSON Schema',
      content: <JsonView text={JSON.stringify(schema, null, 2)} label="JSON Schema of the configuration" />,
    },
    { id: 'example', name: 'Example', content: <Example name={name} schema={schema} /> },
  ];
  const first = tabs[0]?.id ?? '';
  return (
    <Tabs
      label="Evaluator"
      tabs={tabs}
      selected={filters.get('tab') ?? first}
      onSelect={(id) => setFilter('tab', id === first ? '' : id)}
    />
  );
}

function Members({ members }: { readonly members: readonly ConfigMember[] }) {
  if (members.length === 0) return <Empty title="The schema describes no members" />;
  return (
    <Table label="Configuration" columns={COLUMNS}>
      {members.map((member) => (
        <tr key={member.path}>
          <td>
            <code>
              <UserText text={member.path} />
            </code>
          </td>
          <td className="wrapped" dir="auto">
            {member.type}
          </td>
          <td>{member.isRequired ? 'required' : ''}</td>
          <td>
            <UserText text={member.fallback === '' ? '–' : member.fallback} max={30} />
          </td>
          <td className="wrapped" dir="auto">
            {member.description}
          </td>
        </tr>
      ))}
    </Table>
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
